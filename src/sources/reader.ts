/**
 * The process that reads one source for a builder, who started it (`box.ts`): the job comes by the standard
 * input, what was read goes out by the fourth descriptor. It holds no secret and ends itself when it takes
 * too much memory or its builder is gone.
 */
import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { RowBatch } from '../sea/columns.ts'
import {
  FRAMES_DESCRIPTOR,
  FrameWriter,
  MEMORY_SIGNAL,
  type FileCounts,
  type LastMessage,
  type Message,
} from './frames.ts'
import { openKind } from './kinds.ts'
import { type FileReport, type Report, type Sink, type SourceOptions } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'

/** What is to be read, and how much memory may be used. */
export interface Job {
  kind: string
  argument: string
  options: SourceOptions | null
  asOf: number | null
  now: number
  /** Process that wants it: when that is gone, so is the reader. */
  builder: number
  maxBytes: number
  /** The builder ends it sooner, if it can. */
  maxSeconds: number
}

const WATCH_MS = 50
/** Bad lines of a file, remarks, and reasons with their stations, that are told one by one. */
const BAD_LINES_TOLD = 200
const REMARKS_TOLD = 500
const SKIPS_TOLD = 20_000

/** A thread of its own goes on while the one that reads is stuck. */
const WATCH = `
const { workerData: { builder, maxBytes, maxSeconds, signal, every } } = require('node:worker_threads')
const clock = new Int32Array(new SharedArrayBuffer(4))
for (;;) {
  Atomics.wait(clock, 0, 0, every)
  if (process.ppid !== builder || performance.now() > maxSeconds * 1000) process.kill(process.pid, 'SIGKILL')
  if (process.memoryUsage.rss() > maxBytes) process.kill(process.pid, signal)
}`

function watch({ builder, maxBytes, maxSeconds }: Job): void {
  try {
    // Where the machine's memory runs out first, this process is the one to go.
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Only Linux has it.
  }
  const workerData = { builder, maxBytes, maxSeconds, signal: MEMORY_SIGNAL, every: WATCH_MS }
  new Worker(WATCH, { eval: true, workerData, execArgv: [] }).unref()
}

/** The descriptor waits where the builder is slower, which keeps what is on the way small. */
function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(FRAMES_DESCRIPTOR, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

/** A sink that sends all that it gets. */
class SendingSink implements Sink {
  readonly #frames: FrameWriter
  readonly #handles = new Map<string, number>()

  constructor(frames: FrameWriter) {
    this.#frames = frames
  }

  buoy(record: BuoyRecord): number {
    const text = JSON.stringify(record)
    let handle = this.#handles.get(text)
    if (handle === undefined) {
      this.#handles.set(text, (handle = this.#handles.size))
      this.#frames.message(['buoy', record])
    }
    return handle
  }

  rows(buoy: number, batch: RowBatch, feed = 0): void {
    this.#frames.rows(buoy, feed, batch)
  }

  source: Sink['source'] = (info) => this.#frames.message(['source', info])
  pass: Sink['pass'] = (record) => this.#frames.message(['pass', record])
  forecast: Sink['forecast'] = (record) => this.#frames.message(['forecast', record])
  harbour: Sink['harbour'] = (record) => this.#frames.message(['harbour', record])
  spot: Sink['spot'] = (record) => this.#frames.message(['spot', record])
}

/** A report that sends what it hears, in sums. */
class SendingReport implements Report {
  readonly #frames: FrameWriter
  readonly #files: SendingFile[] = []
  #remarks = 0

  constructor(frames: FrameWriter) {
    this.#frames = frames
  }

  reads(path: string): void {
    this.#tellAtOnce(['reads', path])
  }

  file(path: string): FileReport {
    this.#tellAtOnce(['file', path])
    const file = new SendingFile(this.#files.length, this.#frames)
    this.#files.push(file)
    return file
  }

  warn(message: string): void {
    if (++this.#remarks <= REMARKS_TOLD) this.#frames.message(['warn', message])
  }

  withoutPosition(kind: string, identifiers: readonly string[]): void {
    this.#frames.message(['withoutPosition', kind, identifiers])
  }

  /** Sends what files that were not ended have counted. */
  close(): void {
    for (const file of this.#files) file.tell()
    const more = this.#remarks - REMARKS_TOLD
    if (more > 0) this.#frames.message(['warn', `and ${more} more remarks`])
  }

  /** So that it is known where a reader was that had to be ended. */
  #tellAtOnce(message: Message): void {
    this.#frames.message(message)
    this.#frames.flush()
  }
}

class SendingFile implements FileReport {
  readonly #number: number
  readonly #frames: FrameWriter
  #rows = 0
  readonly #skipped = new Map<string, FileCounts['skipped'][number]>()
  #bad: FileCounts['bad'] = []
  #badTold = 0
  /** Further bad lines by reason. */
  readonly #moreBad = new Map<string, FileCounts['bad'][number]>()

  constructor(number: number, frames: FrameWriter) {
    this.#number = number
    this.#frames = frames
  }

  rows(count: number): void {
    this.#rows += count
  }

  skipped(reason: string, station?: string, times = 1): void {
    const key = station === undefined ? reason : `${reason}\0${station}`
    const known = this.#skipped.get(key)
    if (known !== undefined) known[2] += times
    else {
      if (this.#skipped.size === SKIPS_TOLD) this.tell()
      this.#skipped.set(key, [reason, station ?? null, times])
    }
  }

  bad(line: number, reason: string, text?: string, times = 1): void {
    const entry: FileCounts['bad'][number] = [line, reason, text?.slice(0, 200) ?? null, times]
    if (this.#badTold < BAD_LINES_TOLD) {
      this.#badTold++
      this.#bad.push(entry)
      return
    }
    const known = this.#moreBad.get(reason)
    if (known !== undefined) known[3] += times
    else {
      if (this.#moreBad.size === SKIPS_TOLD) this.tell()
      this.#moreBad.set(reason, entry)
    }
  }

  end(): void {
    this.tell()
    this.#frames.message(['end', this.#number])
  }

  tell(): void {
    const counts: FileCounts = {
      rows: this.#rows,
      skipped: [...this.#skipped.values()],
      bad: [...this.#bad, ...this.#moreBad.values()],
    }
    if (counts.rows + counts.skipped.length + counts.bad.length > 0)
      this.#frames.message(['counts', this.#number, counts])
    this.#rows = 0
    this.#skipped.clear()
    this.#bad = []
    this.#moreBad.clear()
  }
}

/**
 * Where in our code something unforeseen went wrong, and what kind of fault it is; its message may hold a
 * piece of a file.
 */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault'
  const [place] = /[\w.-]+\.(?:ts|m?js):\d+/.exec(error.stack ?? '') ?? ['an unknown place']
  return `${/^\w{1,40}$/.test(error.name) ? error.name : 'Error'} at ${place}`
}

async function run(): Promise<void> {
  const frames = new FrameWriter(writeAll)
  const report = new SendingReport(frames)
  let last: LastMessage = ['done']
  try {
    const job = JSON.parse(readFileSync(0, 'utf8')) as Job
    const { kind, argument, options, asOf, now } = job
    watch(job)
    const source = openKind(kind, argument, options ?? undefined)
    await source.read(new SendingSink(frames), { asOf, now, report })
  } catch (error) {
    last = error instanceof BuildError ? ['refused', error.message] : ['fault', placeOf(error)]
  }
  report.close()
  frames.message(last)
  frames.flush()
}

// A builder that drains is not done yet; when it ends, so does this.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

await run()
