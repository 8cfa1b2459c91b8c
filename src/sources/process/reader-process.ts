/**
 * Reads a source in a process of its own, under limits, which can be ended whatever a hostile file does to
 * it. A worker thread cannot be limited so: nested JSON hangs, and a full heap aborts the whole process. The
 * reader parses while the builder stores what has come through the pipe.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { totalmem } from 'node:os'
import { Readable, type Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { decodeIter } from 'msgpackr'
// Without the native code that the whole package loads. Its types do not know the export.
import * as unpacking from 'msgpackr/unpack'
import { RowBatch } from '../../sea/row-batch.ts'
import { MEMORY_SIGNAL, PACKED, type LastMessage, type Message } from './messages.ts'
import type { FileReport, Report, Sink, Source, SourceLimits, SourceOptions } from '../source.ts'
import { BuildError } from '../../system/build-error.ts'

/** The largest source, half a year of eight altimeters, needs half an hour on a slow core and 2.5 GB. */
const DEFAULT_LIMIT_SECONDS = 1800
const DEFAULT_LIMIT_MIB = 4096
/** Share of the machine's or container's memory; the builder and a server next to it need the rest. */
const MEMORY_SHARE = 0.75
/**
 * A reader without a new file or a message for this long is stalled: the largest file takes a tenth of it.
 */
const STALLED_SECONDS = 300
/** The part of the memory that objects may take; the rest is for bytes of files and columns. */
const HEAP_SHARE = 0.5
/** A reader ends itself this long past its time limit, in case its builder is stalled. */
const GRACE_SECONDS = 30
/** A dying reader's last output serves only to distinguish a full memory from a crash. */
const LAST_WORDS_CHARACTERS = 8192
const MEMORY_WORDS = /out of memory|allocation failed|cannot allocate/i
const MIB = 2 ** 20

/** A core file would be a copy of everything that was read. */
const WITHOUT_CORE = 'ulimit -c 0; exec "$0" "$@"'

/** The builder's order for the process, as JSON. */
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

/** The last message and file of a reader. */
interface Taken {
  last: LastMessage | null
  /** The last place of the reader. */
  file: string
}

/** Takes the reader's messages into the builder's sink and report. */
function takerOf(sink: Sink, report: Report, taken: Taken): (message: Message) => void {
  const handles: number[] = []
  const files: FileReport[] = []
  return (message) => {
    switch (message[0]) {
      case 'buoy':
        handles.push(sink.buoy(message[1]))
        return
      case 'listed':
        sink.listed(message[1], message[2])
        return
      case 'rows': {
        const [, buoy, feed, time, columns] = message
        const batch = Object.assign(new RowBatch(time.length), { length: time.length, time })
        Object.assign(batch.columns, columns)
        sink.rows(handles[buoy], batch, feed)
        return
      }
      case 'spectra': {
        const [, buoy, feed, spectra] = message
        sink.spectra(handles[buoy], spectra, feed)
        return
      }
      case 'pass': {
        const observations = message[1].observations.map(({ buoy, time }) => ({ buoy: handles[buoy], time }))
        sink.pass({ ...message[1], observations })
        return
      }
      case 'source':
      case 'forecast':
      case 'harbour':
      case 'spot':
        sink[message[0] as 'source'](message[1] as Parameters<Sink['source']>[0])
        return
      case 'doubt':
      case 'withoutPosition':
        report[message[0] as 'doubt'](message[1] as Parameters<Report['doubt']>[0])
        return
      case 'file':
        files.push(report.file(message[1]))
        taken.file = message[1]
        return
      case 'reads':
        taken.file = message[1]
        return
      case 'counts': {
        const [, number, rows, remarks] = message
        if (rows > 0) files[number].rows(rows)
        for (const [call, ...counted] of remarks)
          (files[number][call] as (...all: unknown[]) => void)(...counted)
        return
      }
      case 'end':
        files[message[1]].end()
        return
      case 'done':
      case 'refused':
      case 'fault':
        taken.last = message
    }
  }
}

/** Gives the same source, but read in a process of its own. */
export function inReaderProcess(
  { kind, argument, options, source }: Reading,
  { seconds = DEFAULT_LIMIT_SECONDS, megabytes = defaultMebibytes() }: SourceLimits = {},
): Source {
  return {
    ...source,
    async read(sink, { asOf, now, report }) {
      const job: Job = {
        kind,
        argument,
        options: options ?? null,
        asOf,
        now,
        builder: process.pid,
        maxBytes: megabytes * MIB,
        maxBadShare: report.maxBadShare,
        maxSeconds: seconds + GRACE_SECONDS,
      }
      const taken: Taken = { last: null, file: '' }
      const take = takerOf(sink, report, taken)
      const ended = await follow(start(megabytes), job, { seconds, megabytes }, take, taken)
      if (taken.last?.[0] === 'done') return
      if (taken.last?.[0] === 'refused') throw new BuildError(taken.last[1])
      const why = taken.last === null ? ended : `its reader failed (${taken.last[1]})`
      const place = taken.file === '' ? '' : `; it was at ${JSON.stringify(taken.file).slice(1, -1)}`
      throw new BuildError(`${kind}: ${why}${place}`)
    },
  }
}

function defaultMebibytes(): number {
  const machine = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  return Math.min(DEFAULT_LIMIT_MIB, Math.floor((machine * MEMORY_SHARE) / MIB))
}

/** The module of the process: the one next to this one when compiled; a small bootstrap from the sources. */
function entry(): string[] {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
  if (import.meta.url.endsWith('.js')) return [path('./reader.js')]
  return [path('../../system/thread.dev.mjs'), new URL('./reader.ts', import.meta.url).href]
}

function start(mebibytes: number): ChildProcess {
  const flags = [`--max-old-space-size=${Math.ceil(mebibytes * HEAP_SHARE)}`, '--no-addons']
  const command = [process.execPath, ...flags, ...entry()]
  return spawn('/bin/sh', ['-c', WITHOUT_CORE, ...command], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    // Some variables hold secrets, and a reader needs none of them.
    env: {},
  })
}

/** Takes what the reader sends, and resolves to how it ended. @throws what the sink or the report throws */
async function follow(
  child: ChildProcess,
  job: Job,
  { seconds, megabytes }: Required<SourceLimits>,
  take: (message: Message) => void,
  taken: Taken,
): Promise<string> {
  let words = ''
  let why: string | null = null
  const end = (reason: string): void => {
    why ??= reason
    child.kill('SIGKILL')
  }
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  // The end is awaited below, after the output.
  closed.catch(() => undefined)
  const limit = setTimeout(end, seconds * 1000, `it was not read within ${seconds} s, its limit`)
  const stall = setTimeout(end, STALLED_SECONDS * 1000, `its reader stalled for ${STALLED_SECONDS} s`)
  const [stdin, , stderr, output] = child.stdio as unknown as [Writable, null, Readable, Readable]
  // The process ended before it took its job; the exit says why.
  stdin.on('error', () => undefined)
  stdin.end(JSON.stringify(job))
  stderr.setEncoding('latin1')
  stderr.on('data', (text: string) => {
    words = (words + text).slice(-LAST_WORDS_CHARACTERS)
  })
  // A message of more than 64 MiB is a fault, too.
  const { decodeIter: decoded } = unpacking as unknown as { decodeIter: typeof decodeIter }
  const messages = Readable.from(decoded(output, PACKED))
  try {
    for await (const message of messages as AsyncIterable<Message>) {
      stall.refresh()
      if (why === null && taken.last === null) take(message)
      if (taken.last !== null) child.kill('SIGKILL')
    }
  } catch (error) {
    if (error !== messages.errored) throw error
    // The last message of a reader that was killed is cut off.
    if (!output.readableEnded) end('its reader sent bytes that are not a message')
  } finally {
    clearTimeout(limit)
    clearTimeout(stall)
    child.kill('SIGKILL')
  }
  const [code, signal] = await closed.catch((error: NodeJS.ErrnoException) => {
    throw new BuildError(`${job.kind}: its reader cannot be started (${error.code})`)
  })
  if (why !== null) return why
  if (signal === MEMORY_SIGNAL || MEMORY_WORDS.test(words))
    return `it needs more than ${megabytes} MiB of memory, its limit`
  if (signal === 'SIGKILL') return 'its reader was killed, as the system does when memory runs out'
  return `its reader crashed (${signal ?? `exit code ${code}`})`
}
