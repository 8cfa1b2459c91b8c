/**
 * Somebody else: a light client at a modest, constant rate over a few kept connections and some new ones, in
 * a process of its own. It says how long its requests took and which failed, from one moment to the next.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { RawClient } from '../http/raw.ts'
import { quantile } from '../http/statistics.ts'
import { Tally } from './attack.ts'

const TICK_MS = 10
const KEPT_CONNECTIONS = 8
/** One request in so many comes over a new connection. */
const NEW_EVERY = 10
/** An answer that takes longer has failed. */
const ANSWER_LIMIT_MS = 10_000

/** What was seen between two moments. */
export interface Seen {
  asked: number
  failed: number
  /** What failed, and how often. */
  failures: string
  /** Milliseconds; 0 where nothing was answered. */
  p50: number
  p99: number
}

interface Begin {
  type: 'begin'
  port: number
  key: string
  paths: readonly string[]
}
type ToBystander = Begin | { type: 'tell' }

/** As the starter sees it. */
export interface Bystander {
  /** What was seen since the last time; waits for answers that are still to come. */
  tell(): Promise<Seen>
  stop(): void
}

const FILE = fileURLToPath(import.meta.url)

/** Begins to ask at once. `key` is its own. */
export async function startBystander(
  port: number,
  key: string,
  paths: readonly string[],
): Promise<Bystander> {
  const child = fork(FILE, { execArgv: ['--import', 'tsx'] })
  const said = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the bystander ended'))
      child.once('exit', ended)
      child.once('message', (message) => {
        child.off('exit', ended)
        resolve(message)
      })
    })
  const ready = said()
  child.send({ type: 'begin', port, key, paths } satisfies Begin)
  await ready
  return {
    async tell() {
      const seen = said()
      child.send({ type: 'tell' } satisfies ToBystander)
      return (await seen) as Seen
    },
    stop: () => void child.kill('SIGKILL'),
  }
}

class Spell {
  readonly times: number[] = []
  readonly failures = new Tally()
  asked = 0
  failed = 0
  open = 0

  seen(): Seen {
    const ordered = this.times.toSorted((a, b) => a - b)
    const at = (q: number): number => (ordered.length === 0 ? 0 : quantile(ordered, q))
    return {
      asked: this.asked,
      failed: this.failed,
      failures: this.failed === 0 ? '' : this.failures.toString(),
      p50: at(0.5),
      p99: at(0.99),
    }
  }
}

function watch({ port, key, paths }: Begin): { change: () => Promise<Seen> } {
  const headers = [`Authorization: Bearer ${key}`]
  const open = (): RawClient => new RawClient(port, headers, { timeoutMs: ANSWER_LIMIT_MS })
  const kept = Array.from({ length: KEPT_CONNECTIONS }, open)
  const waiting: (() => void)[] = []
  let spell = new Spell()
  let n = 0

  const ask = async (client: RawClient, path: string, own: Spell, began: number): Promise<void> => {
    try {
      const { status, body } = await client.get(path)
      if (status === 200 && body.length > 0) own.times.push(performance.now() - began)
      else throw new Error(`status ${status}`)
    } catch (error) {
      own.failed++
      own.failures.add((error as Error).message)
      client.close()
    }
    own.open--
  }

  const askKept = (path: string, own: Spell, began: number): void => {
    // In turn, so that none is idle for as long as the server keeps it: a request that meets its close is
    // lost, and a client like this one does not ask twice.
    const client = kept.shift()
    if (client === undefined) {
      waiting.push(() => askKept(path, own, began))
      return
    }
    // One that was idle for long may have been ended in good order.
    const usable = client.isOpen ? client : open()
    void ask(usable, path, own, began).then(() => {
      kept.push(usable)
      waiting.shift()?.()
    })
  }

  const askNew = (path: string, own: Spell, began: number): void => {
    const client = open()
    void ask(client, path, own, began).then(() => client.close())
  }

  setInterval(() => {
    const path = paths[n % paths.length]
    const began = performance.now()
    spell.asked++
    spell.open++
    if (n++ % NEW_EVERY === 0) askNew(path, spell, began)
    else askKept(path, spell, began)
  }, TICK_MS)

  return {
    async change() {
      const over = spell
      spell = new Spell()
      while (over.open > 0) {
        await new Promise((resolve) => {
          setTimeout(resolve, 20)
        })
      }
      return over.seen()
    },
  }
}

if (process.argv[1] === FILE) {
  let own: ReturnType<typeof watch> | null = null
  process.on('message', (message: ToBystander) => {
    if (message.type === 'begin') {
      own = watch(message)
      process.send!('ready')
    } else {
      void own?.change().then((seen) => process.send!(seen))
    }
  })
  process.on('disconnect', () => process.exit(0))
}
