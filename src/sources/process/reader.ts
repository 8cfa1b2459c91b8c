/**
 * The process that reads one source for its builder (`reader-process.ts`): its job comes by standard input,
 * and what it reads leaves by the fourth descriptor. It holds no secret, and ends itself
 * when it takes too much memory or its builder is gone.
 */
import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { Packr } from 'msgpackr/pack'
import {
  MESSAGES_DESCRIPTOR,
  MEMORY_SIGNAL,
  PACKED,
  type LastMessage,
  type Message,
  type Remark,
} from './messages.ts'
import { openKind } from '../kinds.ts'
import type { Job } from './reader-process.ts'
import { slice } from '../../sea/spectra-batch.ts'
import { Doubts } from '../doubts.ts'
import type { FileReport, Report, Sink } from '../source.ts'
import { BuildError } from '../../system/build-error.ts'
import { entryOf } from '../../system/entry-of.ts'

const WATCH_MS = 50
/** Bad lines of one file that are sent one by one; later ones are only counted by reason. */
const MAX_BAD_LINES = 200
const MAX_REASONS = 20_000

/** Rows of one message: the builder takes none of more than 64 MiB. */
const MAX_ROWS = 16_384
/** Spectra of one message, for the same reason: 8 bytes a band, at most 256 bands. */
const MAX_SPECTRA = 4096
/** Messages are written together from this many bytes on. */
const BUFFER_BYTES = 2 ** 20

/** Runs in a thread of its own, which goes on while the reading thread is stuck. */
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
    // The file exists only on Linux.
  }
  const workerData = { builder, maxBytes, maxSeconds, signal: MEMORY_SIGNAL, every: WATCH_MS }
  new Worker(WATCH, { eval: true, workerData, execArgv: [] }).unref()
}

/** Waits for a slower builder, which bounds what is under way. */
function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(MESSAGES_DESCRIPTOR, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

class Messages {
  readonly #packr = new Packr(PACKED)
  #waiting: Uint8Array[] = []
  #length = 0

  send(message: Message): void {
    const packed = this.#packr.pack(message)
    this.#waiting.push(packed)
    this.#length += packed.length
    if (this.#length >= BUFFER_BYTES) this.flush()
  }

  flush(): void {
    writeAll(Buffer.concat(this.#waiting))
    this.#waiting = []
    this.#length = 0
  }
}

function sendingSink(messages: Messages): Sink {
  const handles = new Map<string, number>()
  return {
    source: (info) => messages.send(['source', info]),
    buoy: (record) =>
      entryOf(handles, JSON.stringify(record), () => {
        messages.send(['buoy', record])
        return handles.size
      }),
    listed: (source, identifiers) => messages.send(['listed', source, identifiers]),
    rows(buoy, batch, feed = 0) {
      const names = batch.names()
      for (let from = 0; from < batch.length; from += MAX_ROWS) {
        const to = Math.min(batch.length, from + MAX_ROWS)
        const columns = names.map((name) => [name, batch.columns[name].subarray(from, to)])
        messages.send(['rows', buoy, feed, batch.time.subarray(from, to), Object.fromEntries(columns)])
      }
    },
    spectra(buoy, spectra, feed = 0) {
      for (let from = 0; from < spectra.time.length; from += MAX_SPECTRA) {
        messages.send(['spectra', buoy, feed, slice(spectra, from, from + MAX_SPECTRA)])
      }
    },
    pass: (record) => messages.send(['pass', record]),
    forecast: (record) => messages.send(['forecast', record]),
    harbour: (record) => messages.send(['harbour', record]),
    spot: (record) => messages.send(['spot', record]),
  }
}

/** A report that sends, and a function that sends its rest. */
function sendingReport(messages: Messages, maxBadShare: number): { report: Report; close: () => void } {
  const files: (() => void)[] = []
  const doubts = new Doubts()
  /** So the builder knows the last place of a reader that it has to end. */
  const sendAtOnce = (message: Message): void => {
    messages.send(message)
    messages.flush()
  }
  const report: Report = {
    maxBadShare,
    reads: (path) => sendAtOnce(['reads', path]),
    file(path) {
      sendAtOnce(['file', path])
      const { file, send } = sendingFile(files.length, messages, maxBadShare)
      files.push(send)
      return file
    },
    doubt: (doubt) => doubts.add(doubt),
    withoutPosition: (identifiers) => messages.send(['withoutPosition', identifiers]),
  }
  const close = (): void => {
    for (const send of files) send()
    for (const doubt of doubts.list()) messages.send(['doubt', doubt])
  }
  return { report, close }
}

/** The report of a file, which sends sums, and a function that sends them before it ends. */
function sendingFile(
  number: number,
  messages: Messages,
  maxBadShare: number,
): { file: FileReport; send: () => void } {
  let [allRows, allBad, rows, badSeen] = [0, 0, 0, 0]
  /** Remarks that wait to be sent, each with its number of times as the last element. */
  const remarks = new Map<string, Remark>()
  const send = (): void => {
    if (rows + remarks.size > 0) messages.send(['counts', number, rows, [...remarks.values()]])
    rows = 0
    remarks.clear()
  }
  const add = (key: string, times: number, begin: () => Remark): void => {
    if (remarks.size === MAX_REASONS && !remarks.has(key)) send()
    const remark = entryOf(remarks, key, begin)
    remark[remark.length - 1] = (remark.at(-1) as number) + times
  }
  const file: FileReport = {
    rows(count) {
      rows += count
      allRows += count
    },
    skipped: (reason, station, times = 1) =>
      add(`${reason}\0${station}`, times, () => ['skipped', reason, station, 0]),
    bad(line, reason, text, times = 1) {
      allBad += times
      const key = badSeen++ < MAX_BAD_LINES ? String(badSeen) : reason
      add(`bad ${key}`, times, () => ['bad', line, reason, text?.slice(0, 200), 0])
    },
    end() {
      send()
      messages.send(['end', number])
      return allBad / Math.max(1, allBad + allRows) <= maxBadShare
    },
  }
  return { file, send }
}

/** Where in our code an unforeseen fault arose, and its kind; its message may hold a piece of a file. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault'
  const [place] = /[\w.-]+\.(?:ts|m?js):\d+/.exec(error.stack ?? '') ?? ['an unknown place']
  return `${/^\w{1,40}$/.test(error.name) ? error.name : 'Error'} at ${place}`
}

async function run(): Promise<void> {
  const messages = new Messages()
  let close = (): void => undefined
  let last: LastMessage = ['done']
  try {
    const job = JSON.parse(readFileSync(0, 'utf8')) as Job
    const { kind, argument, options, asOf, now } = job
    watch(job)
    const sending = sendingReport(messages, job.maxBadShare)
    close = sending.close
    const source = openKind(kind, argument, options ?? undefined)
    await source.read(sendingSink(messages), { asOf, now, report: sending.report })
  } catch (error) {
    last = error instanceof BuildError ? ['refused', error.message] : ['fault', placeOf(error)]
  }
  close()
  messages.send(last)
  messages.flush()
}

// A builder that drains still needs its reader, which ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

await run()
