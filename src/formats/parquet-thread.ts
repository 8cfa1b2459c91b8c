/**
 * The thread that writes Parquet: it serves nothing, so that a row group, which is one uninterrupted piece of
 * work, keeps nobody waiting. It writes a row group of a file when it is asked to, and never more.
 */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { ParquetFile } from '../parquet/writer.ts'
import type { ReadingColumn, Run } from '../parquet/columns.ts'
import { MEASURE_NAMES, type MeasureName } from '../sea/columns.ts'
import { parquetColumns } from './parquet-columns.ts'
import type { ParquetRun, ParquetStart } from './parquet-job.ts'

export type ToParquet =
  | { type: 'begin'; file: number; start: ParquetStart }
  /** The rows of the next row group; none where the file has no rows at all. */
  | { type: 'group'; file: number; runs: readonly ParquetRun[]; isLast: boolean }
  | { type: 'drop'; file: number }

/** The next bytes of a file, or why there are none: then it is dropped. */
export type FromParquet = { file: number; bytes: Uint8Array } | { file: number; fault: Error }

interface OpenFile {
  readonly start: ParquetStart
  readonly columns: readonly ReadingColumn[]
  readonly file: ParquetFile
  /** What was written and not handed on. */
  readonly pieces: Uint8Array[]
}

const CREATED_BY = 'groundswell'
/** Serving threads come first where processors are scarce. */
const NICENESS = 5

// Elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(NICENESS)

const files = new Map<number, OpenFile>()
const main = parentPort!

function begin(start: ParquetStart): OpenFile {
  const columns = parquetColumns(start.buoy, start.columns)
  const pieces: Uint8Array[] = []
  const file = new ParquetFile(columns, start.metadata, CREATED_BY, (bytes) => pieces.push(bytes.slice()))
  return { start, columns, file, pieces }
}

/** Bytes in a buffer of their own, which can be handed over. */
function write(
  { start, columns, file, pieces }: OpenFile,
  parts: readonly ParquetRun[],
  isLast: boolean,
): Uint8Array<ArrayBuffer> {
  const runs = parts.map((part): Run => {
    const rows = part.isBackwards ? backwards(part.rows) : part.rows
    return { buoy: start.buoy, rows, from: 0, to: rows.time.length }
  })
  const count = runs.reduce((sum, { to }) => sum + to, 0)
  if (count > 0) file.group(columns.map((column) => column.values(runs, count)))
  if (isLast) file.finish()
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces.splice(0)) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

function backwards({ time, measures }: ParquetRun['rows']): ParquetRun['rows'] {
  const parts = MEASURE_NAMES.map((name): [MeasureName, ParquetRun['rows']['measures'][MeasureName]] => {
    const { codes, mask } = measures[name]
    return [name, { codes: mask === 0 ? codes : codes.slice().reverse(), mask }]
  })
  return {
    time: time.slice().reverse(),
    measures: Object.fromEntries(parts) as ParquetRun['rows']['measures'],
  }
}

function handle(message: ToParquet): void {
  const { type, file } = message
  if (type === 'begin') files.set(file, begin(message.start))
  else if (type === 'drop') files.delete(file)
  else {
    const open = files.get(file)
    // It has failed, or its client has gone.
    if (open === undefined) return
    const bytes = write(open, message.runs, message.isLast)
    if (message.isLast) files.delete(file)
    main.postMessage({ file, bytes } satisfies FromParquet, [bytes.buffer])
  }
}

main.on('message', (message: ToParquet) => {
  try {
    handle(message)
  } catch (error) {
    files.delete(message.file)
    main.postMessage({ file: message.file, fault: error as Error } satisfies FromParquet)
  }
})
