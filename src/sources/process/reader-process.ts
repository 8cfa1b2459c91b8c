/**
 * Reads a source in a process of its own, under limits, which can be ended whatever a hostile file does to
 * it. A worker thread cannot be limited so: nested JSON hangs, and a full heap aborts the whole process. The
 * reader parses while the builder stores what has come through the pipe.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { totalmem } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  FrameFault,
  FrameReader,
  MEMORY_SIGNAL,
  type FrameTaker,
  type LastMessage,
  type Message,
} from './frames.ts'
import {
  type FileReport,
  type Sink,
  type Source,
  type SourceContext,
  type SourceLimits,
  type SourceOptions,
} from '../source.ts'
import { BuildError } from '../../system/build-error.ts'

/** The largest source, half a year of eight altimeters, needs half an hour on a slow core and 2.5 GB. */
const DEFAULT_LIMIT_SECONDS = 1800
const DEFAULT_LIMIT_MIB = 4096
/** Share of the machine's or container's memory; the builder and a server next to it need the rest. */
const MEMORY_SHARE = 0.75
/** A reader without a new file or a frame for this long is stalled: the largest file takes a tenth of it. */
const STALLED_SECONDS = 300
/** The part of the memory that objects may take; the rest is for bytes of files and columns. */
const HEAP_SHARE = 0.5
const WATCH_MS = 250
/** A reader ends itself this long past its time limit, in case its builder is stalled. */
const GRACE_SECONDS = 30
/** A dying reader's last output serves only to distinguish a full memory from a crash. */
const LAST_WORDS_CHARACTERS = 8192
const MEMORY_WORDS = /out of memory|allocation failed|cannot allocate/i
const MIB = 2 ** 20

/** A core file would be a copy of everything that was read. */
const WITHOUT_CORE = 'ulimit -c 0; exec "$0" "$@"'

/** What the builder asks of the process, as JSON. */
export interface Job {
  kind: string
  argument: string
  options: SourceOptions | null
  asOf: number | null
  now: number
  /** The builder's process id: the reader ends with it. */
  builder: number
  maxBytes: number
  maxBadShare: number
  /** The reader's own limit; its builder ends it sooner if it can. */
  maxSeconds: number
}

interface Reading {
  kind: string
  argument: string
  options: SourceOptions | undefined
  source: Source
}

/** Gives the same source, but read in a process of its own. */
export function inReaderProcess(
  { kind, argument, options, source }: Reading,
  limits: SourceLimits = {},
): Source {
  return {
    ...source,
    read: (sink, context) =>
      new ReaderProcess(kind, limits, sink, context).run({ kind, argument, options: options ?? null }),
  }
}

function defaultMebibytes(): number {
  const machine = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  return Math.min(DEFAULT_LIMIT_MIB, Math.floor((machine * MEMORY_SHARE) / MIB))
}

/** What the process runs: the module next to this one when compiled; a small bootstrap from the sources. */
function entry(): string[] {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
  if (import.meta.url.endsWith('.js')) return [path('./reader.js')]
  return [path('../../system/thread.dev.mjs'), new URL('./reader.ts', import.meta.url).href]
}

class ReaderProcess implements FrameTaker {
  readonly #name: string
  readonly #seconds: number
  readonly #mebibytes: number
  readonly #sink: Sink
  readonly #context: SourceContext
  readonly #handles: number[] = []
  readonly #files: FileReport[] = []
  #lastFile: string | null = null
  #last: LastMessage | null = null

  constructor(name: string, limits: SourceLimits, sink: Sink, context: SourceContext) {
    this.#name = name
    this.#seconds = limits.seconds ?? DEFAULT_LIMIT_SECONDS
    this.#mebibytes = limits.megabytes ?? defaultMebibytes()
    this.#sink = sink
    this.#context = context
  }

  /** @throws BuildError when the source is refused or its reader process does not finish */
  async run(of: Pick<Job, 'kind' | 'argument' | 'options'>): Promise<void> {
    const { asOf, now, report } = this.#context
    const job: Job = {
      ...of,
      asOf,
      now,
      builder: process.pid,
      maxBytes: this.#mebibytes * MIB,
      maxBadShare: report.maxBadShare,
      maxSeconds: this.#seconds + GRACE_SECONDS,
    }
    const ended = await this.#follow(this.#start(), JSON.stringify(job))
    const last = this.#last
    if (last?.[0] === 'done') return
    if (last?.[0] === 'refused') throw new BuildError(last[1])
    const why = last === null ? ended : `its reader failed (${last[1]})`
    const file = this.#lastFile === null ? '' : `; it was at ${JSON.stringify(this.#lastFile).slice(1, -1)}`
    throw new BuildError(`${this.#name}: ${why}${file}`)
  }

  #start(): ChildProcess {
    const flags = [`--max-old-space-size=${Math.ceil(this.#mebibytes * HEAP_SHARE)}`, '--no-addons']
    const command = [process.execPath, ...flags, ...entry()]
    return spawn('/bin/sh', ['-c', WITHOUT_CORE, ...command], {
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
      // Some variables hold secrets, and a reader needs none of them.
      env: {},
    })
  }

  /** Takes what the reader sends, and resolves to how it ended. @throws what the sink or the report throws */
  #follow(child: ChildProcess, job: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const frames = new FrameReader(this)
      const began = performance.now()
      let heard = began
      let words = ''
      let why: string | null = null
      let thrown: { error: unknown } | null = null
      const end = (reason: string): void => {
        why ??= reason
        child.kill('SIGKILL')
      }
      const watch = setInterval(() => {
        const now = performance.now()
        if (now - began > this.#seconds * 1000) end(`it was not read within ${this.#seconds} s, its limit`)
        else if (now - heard > STALLED_SECONDS * 1000) end(`its reader stalled for ${STALLED_SECONDS} s`)
      }, WATCH_MS)
      const [stdin, , stderr, output] = child.stdio as unknown as [Writable, null, Readable, Readable]
      // The process ended before it took its job; the exit tells why.
      stdin.on('error', () => undefined)
      stdin.end(job)
      stderr.setEncoding('latin1')
      stderr.on('data', (text: string) => {
        words = (words + text).slice(-LAST_WORDS_CHARACTERS)
      })
      output.on('data', (piece: Buffer) => {
        heard = performance.now()
        if (why !== null || thrown !== null) return
        try {
          frames.push(piece)
          if (this.#last !== null) child.kill('SIGKILL')
        } catch (error) {
          if (error instanceof FrameFault) end(`its reader sent ${error.message}`)
          else {
            thrown = { error }
            child.kill('SIGKILL')
          }
        }
      })
      child.on('error', (error: NodeJS.ErrnoException) => {
        clearInterval(watch)
        reject(new BuildError(`${this.#name}: its reader cannot be started (${error.code})`))
      })
      child.on('close', (code, signal) => {
        clearInterval(watch)
        if (thrown !== null) reject(thrown.error)
        else resolve(why ?? this.#howEnded(code, signal, words))
      })
    })
  }

  #howEnded(code: number | null, signal: string | null, words: string): string {
    if (signal === MEMORY_SIGNAL || MEMORY_WORDS.test(words))
      return `it needs more than ${this.#mebibytes} MiB of memory, its limit`
    if (signal === 'SIGKILL') return 'its reader was killed, as the system does when memory runs out'
    return `its reader crashed (${signal ?? `exit code ${code}`})`
  }

  message(message: Message): void {
    const { report } = this.#context
    const [kind, ...body] = message
    switch (message[0]) {
      case 'buoy':
        this.#handles.push(this.#sink.buoy(message[1]))
        return
      case 'pass': {
        const ofBuilder = message[1].observations.map(({ buoy, time }) => ({
          buoy: this.#handles[buoy],
          time,
        }))
        this.#sink.pass({ ...message[1], observations: ofBuilder })
        return
      }
      case 'source':
      case 'forecast':
      case 'harbour':
      case 'spot':
        this.#sink[kind as 'source'](body[0] as Parameters<Sink['source']>[0])
        return
      case 'doubt':
        report.doubt(message[1])
        return
      case 'withoutPosition':
        report.withoutPosition(message[1])
        return
      case 'file':
        this.#files.push(report.file(message[1]))
        this.#lastFile = message[1]
        return
      case 'reads':
        this.#lastFile = message[1]
        return
      case 'counts': {
        const [, number, { rows, skipped, bad }] = message
        const file = this.#files[number]
        if (rows > 0) file.rows(rows)
        for (const [reason, station, times] of skipped) file.skipped(reason, station ?? undefined, times)
        for (const [line, reason, text, times] of bad) file.bad(line, reason, text ?? undefined, times)
        return
      }
      case 'end':
        this.#files[message[1]].end()
        return
      case 'done':
      case 'refused':
      case 'fault':
        this.#last = message
    }
  }

  rows(handle: number, feed: number, batch: Parameters<Sink['rows']>[1]): void {
    this.#sink.rows(this.#handles[handle], batch, feed)
  }
}
