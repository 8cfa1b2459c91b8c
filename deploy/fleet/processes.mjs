// Programs that a fleet starts: each is ended by its process id, whatever happens.
import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

/** Where Debian puts servers; an ordinary user's PATH leaves these folders out. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`
/** Enough to see why something failed. */
const OUTPUT_CHARACTERS = 20_000
/** Longer than a replica drains. A program that does not end by then is killed. */
const PATIENCE_MS = 15_000
const START_MS = 120_000
const LOOK_MS = 20

const running = new Set()

/** A program that runs until it is stopped. */
export class Program {
  #child
  #output = ''
  /** Resolves to how it ended: a code or the name of a signal. */
  ended
  /** How it ended, or null while it runs. */
  end = null

  /** @param installs Debian's package of the program, '' where it is no other's */
  constructor(name, command, args, { installs = '', env = {} } = {}) {
    this.name = name
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH, ...env },
      // A Ctrl-C in the terminal reaches the fleet alone, which ends its programs in order.
      detached: true,
    })
    this.#child = child
    running.add(this)
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.#output = (this.#output + text).slice(-OUTPUT_CHARACTERS)
      })
    }
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        const help = installs === '' ? '' : `: sudo apt-get install -y ${installs}`
        this.#output += error.code === 'ENOENT' ? `${command} is not installed${help}` : error.message
        resolve('not started')
      })
      child.once('exit', (code, signal) => resolve(signal ?? code))
    }).then((end) => {
      this.end = end
      running.delete(this)
      return end
    })
  }

  get pid() {
    return this.#child.pid
  }

  get output() {
    return this.#output
  }

  /** Resolves when its output has what `pattern` matches, to the match. @throws Error with its output */
  async says(pattern) {
    for (const until = performance.now() + START_MS; performance.now() < until; await wait(LOOK_MS)) {
      const found = pattern.exec(this.#output)
      if (found !== null) return found
      if (this.end !== null) break
    }
    throw new Error(`${this.name}: ${this.end === null ? 'does not begin' : 'has ended'}\n${this.#output}`)
  }

  signal(signal) {
    if (this.end === null) this.#child.kill(signal)
  }

  /** Ends it, by SIGKILL where it does not end by itself. Resolves to how it ended. */
  async stop(signal = 'SIGTERM') {
    this.signal(signal)
    const impatient = setTimeout(() => this.signal('SIGKILL'), PATIENCE_MS)
    const end = await this.ended
    clearTimeout(impatient)
    return end
  }
}

/** Runs a program to its end. @throws Error with its output where that is not code 0 */
export async function runWell(name, command, args, options) {
  const program = new Program(name, command, args, options)
  const end = await program.ended
  if (end !== 0) throw new Error(`${name} ended with ${end}\n${program.output}`)
  return program.output
}

/** Ends all that still runs. */
export async function stopAll(signal = 'SIGTERM') {
  await Promise.all([...running].map((program) => program.stop(signal)))
}
