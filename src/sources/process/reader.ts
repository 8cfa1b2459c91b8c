/**
 * The process that reads one source for its builder (`reader-process.ts`): its job comes by standard input,
 * and what it reads leaves by the fourth descriptor. It holds no secret, and ends itself
 * when it takes too much memory or its builder is gone.
 */
import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { RowBatch } from '../../sea/row-batch.ts'
import {
  FRAMES_DESCRIPTOR,
  FrameWriter,
  MEMORY_SIGNAL,
  type FileCounts,
  type LastMessage,
  type Message,
} from './frames.ts'
import { openKind } from '../kinds.ts'
import type { Job } from './reader-process.ts'
import { type Doubt, Doubts } from '../doubts.ts'
import type { FileReport, Report, Sink } from '../source.ts'
import { BuildError } from '../../system/build-error.ts'
import { entryOf } from '../../system/entry-of.ts'
import type { BuoyRecord } from '../../sea/records.ts'

const WATCH_MS = 50
/** Bad lines of one file that are sent one by one; later ones are only counted by reason. */
const MAX_BAD_LINES = 200
const MAX_REASONS = 20_000

/** Runs in a thread of its own, which goes on while the one that reads is stuck. */
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
    // If the machine's memory runs out first, the system is to kill this process.
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // The file exists on Linux alone.
  }
  const workerData = { builder, maxBytes, maxSeconds, signal: MEMORY_SIGNAL, every: WATCH_MS }
  new Worker(WATCH, { eval: true, workerData, execArgv: [] }).unref()
}

/** Waits for a slower builder, which bounds what is under way. */
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

class SendingSink implements Sink {
  readonly #frames: FrameWriter
  readonly #handles = new Map<string, number>()

  constructor(frames: FrameWriter) {
    this.#frames = frames
  }

  buoy(record: BuoyRecord): number {
    return entryOf(this.#handles, JSON.stringify(record), () => {
      this.#frames.message(['buoy', record])
      return this.#handles.size
    })
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

class SendingReport implements Report {
  readonly #frames: FrameWriter
  readonly #files: SendingFile[] = []
  readonly #doubts = new Doubts()
  maxBadShare = 0

  constructor(frames: FrameWriter) {
    this.#frames = frames
  }

  reads(path: string): void {
    this.#sendAtOnce(['reads', path])
  }

  file(path: string): FileReport {
    this.#sendAtOnce(['file', path])
    const file = new SendingFile(this.#files.length, this.#frames, this.maxBadShare)
    this.#files.push(file)
    return file
  }

  doubt(doubt: Doubt): void {
    this.#doubts.add(doubt)
  }

  withoutPosition(identifiers: readonly string[]): void {
    this.#frames.message(['withoutPosition', identifiers])
  }

  close(): void {
    for (const file of this.#files) file.send()
    for (const doubt of this.#doubts.list()) this.#frames.message(['doubt', doubt])
  }

  /** The builder then knows where a reader was that it has to end. */
  #sendAtOnce(message: Message): void {
    this.#frames.message(message)
    this.#frames.flush()
  }
}

class SendingFile implements FileReport {
  readonly #number: number
  readonly #frames: FrameWriter
  readonly #maxBadShare: number
  #allRows = 0
  #allBad = 0
  #rows = 0
  readonly #skipped = new Map<string, FileCounts['skipped'][number]>()
  readonly #bad = new Map<string, FileCounts['bad'][number]>()
  #badSeen = 0

  constructor(number: number, frames: FrameWriter, maxBadShare: number) {
    this.#number = number
    this.#frames = frames
    this.#maxBadShare = maxBadShare
  }

  rows(count: number): void {
    this.#rows += count
    this.#allRows += count
  }

  skipped(reason: string, station?: string, times = 1): void {
    const key = station === undefined ? reason : `${reason}\0${station}`
    this.#entry<FileCounts['skipped'][number]>(this.#skipped, key, () => [reason, station ?? null, 0])[2] +=
      times
  }

  bad(line: number, reason: string, text?: string, times = 1): void {
    this.#allBad += times
    const key = this.#badSeen++ < MAX_BAD_LINES ? String(this.#badSeen) : `\0${reason}`
    const shown = text?.slice(0, 200) ?? null
    this.#entry<FileCounts['bad'][number]>(this.#bad, key, () => [line, reason, shown, 0])[3] += times
  }

  #entry<Entry>(entries: Map<string, Entry>, key: string, begin: () => Entry): Entry {
    if (entries.size === MAX_REASONS && !entries.has(key)) this.send()
    return entryOf(entries, key, begin)
  }

  end(): boolean {
    this.send()
    this.#frames.message(['end', this.#number])
    return this.#allBad / Math.max(1, this.#allBad + this.#allRows) <= this.#maxBadShare
  }

  send(): void {
    const counts = { rows: this.#rows, skipped: [...this.#skipped.values()], bad: [...this.#bad.values()] }
    if (counts.rows + counts.skipped.length + counts.bad.length > 0)
      this.#frames.message(['counts', this.#number, counts])
    this.#rows = 0
    this.#skipped.clear()
    this.#bad.clear()
  }
}

/** Where in our code an unforeseen fault arose, and its kind; its message may hold a piece of a file. */
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
    report.maxBadShare = job.maxBadShare
    const source = openKind(kind, argument, options ?? undefined)
    await source.read(new SendingSink(frames), { asOf, now, report })
  } catch (error) {
    last = error instanceof BuildError ? ['refused', error.message] : ['fault', placeOf(error)]
  }
  report.close()
  frames.message(last)
  frames.flush()
}

// A builder that drains still needs its reader, which ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

await run()
