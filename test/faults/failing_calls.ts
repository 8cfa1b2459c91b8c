/** Makes one call of the file system fail in this process, the n-th of a piece of work. */
import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...args: never[]) => unknown
type Calls = { [name: string]: Call }

/** Calls that a disk, a network file system or a removed folder can fail. `existsSync` never throws. */
const SYNC =
  `accessSync appendFileSync chmodSync copyFileSync fstatSync fsyncSync ftruncateSync linkSync lstatSync
  mkdirSync openSync readdirSync readFileSync readSync realpathSync renameSync rmSync statfsSync statSync truncateSync
  unlinkSync utimesSync writeFileSync writeSync`.split(/\s+/)
const PROMISED = 'open opendir readFile readdir rename rm stat statfs unlink writeFile'.split(' ')
/** Methods of an open file. */
const OF_FILES = 'read write writev sync datasync stat truncate writeFile readFile'.split(' ')

export interface Failing {
  /** Where each call came from: a line of the program, and of a call within it. */
  readonly sites: string[]
  /** Runs `work` with the n-th of its calls failing, from 0. Resolves to whether so many were made. */
  during(n: number, work: () => unknown): Promise<boolean>
  restore(): void
}

/** An input/output error as the kernel gives it, for whatever is called. */
const failure = (name: string): Error =>
  Object.assign(new Error(`EIO: i/o error, ${name}`), {
    code: 'EIO',
    errno: -5,
    syscall: name.replace('Sync', ''),
  })

/** Frames of the test itself and of Node are no site of the program. */
const siteOf = (name: string): string => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 30
  const frames = (new Error().stack ?? '').split('\n')
  Error.stackTraceLimit = limit
  const own = frames.filter((frame) => /\/src\//.test(frame)).slice(0, 3)
  return `${name} ${own.map((frame) => frame.trim()).join(' < ')}`
}

export async function failingCalls(): Promise<Failing> {
  const sites: string[] = []
  let at = Infinity
  // What the test itself does meanwhile, as a server that is asked, is not of the work.
  const working = new AsyncLocalStorage<true>()
  const isNext = (name: string): boolean => {
    if (working.getStore() !== true) return false
    sites.push(siteOf(name))
    return sites.length - 1 === at
  }
  const undo: (() => void)[] = []
  const replace = (object: object, name: string, made: (before: Call) => Call): void => {
    const calls = object as Calls
    const before = calls[name]
    calls[name] = made(before)
    undo.push(() => void (calls[name] = before))
  }
  for (const name of SYNC) {
    replace(
      fs,
      name,
      (before) =>
        function (this: unknown, ...args: never[]) {
          if (isNext(name)) throw failure(name)
          return before.apply(this, args)
        },
    )
  }
  const promised = (object: object, name: string): void =>
    replace(
      object,
      name,
      (before) =>
        async function (this: unknown, ...args: never[]) {
          if (isNext(name)) throw failure(name)
          return before.apply(this, args)
        },
    )
  for (const name of PROMISED) promised(fs.promises, name)
  const file = await fs.promises.open('/dev/null')
  const files = Object.getPrototypeOf(file) as object
  await file.close()
  for (const name of OF_FILES) promised(files, name)
  syncBuiltinESMExports()
  return {
    sites,
    async during(n, work) {
      sites.length = 0
      at = n
      await working.run(true, async () => work())
      return sites.length > n
    },
    restore() {
      for (const one of undo) one()
      syncBuiltinESMExports()
    },
  }
}
