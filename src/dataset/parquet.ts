/** Parquet files of the columns of a table, handed on row group by row group. Missing values are null. */
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { JsonWriter } from './json-writer.ts'
import type { CodeColumn, Column, Pieces, Table, WordColumn } from './table.ts'
import type { Run } from '../index/segments.ts'
import { MISSING_I16, MISSING_U16 } from '../sea/columns.ts'
import { entryOf } from '../system/entry-of.ts'
import { TableRows } from './row-writers.ts'

type Value = number | bigint | string | boolean | null

interface WrittenColumn {
  readonly name: string
  readonly element: SchemaElement
  /** Without an encoding the writer chooses between a dictionary and plain values. */
  readonly encoding?: NonNullable<ColumnSource['encoding']>
  /**
   * Least and greatest values of row groups, so that readers can skip some. Nobody asks for a range of words,
   * and theirs would take a tenth of the time.
   */
  readonly statistics: boolean
  valueAt(row: number, run: Run): Value
}

/** Values of all codes by scale: a new number for each cell takes memory, and a third of the time. */
const knownValues = new Map<number, (number | null)[]>()

function valuesOf({ scale, signed }: CodeColumn): (number | null)[] {
  return entryOf(knownValues, signed ? -scale : scale, () =>
    Array.from({ length: 2 ** 16 }, (_, bits) => {
      const code = signed ? (bits << 16) >> 16 : bits
      return code === (signed ? MISSING_I16 : MISSING_U16) ? null : code / scale
    }),
  )
}

const CREATED_BY = 'groundswell'
const MS_PER_S = 1000

function written(column: Column): WrittenColumn {
  const { name } = column
  const optional = (type: NonNullable<SchemaElement['type']>, more: Partial<SchemaElement> = {}) => {
    const element = { name, type, repetition_type: 'OPTIONAL', ...more } as const
    return { name, element, statistics: column.kind !== 'word' }
  }
  const text = { converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const
  switch (column.kind) {
    case 'code': {
      const values = valuesOf(column)
      return { ...optional('DOUBLE'), valueAt: (row, run) => values[column.value(row, run) & 0xffff] }
    }
    case 'number':
      return { ...optional('DOUBLE'), valueAt: (row, run) => orNull(column.value(row, run)) }
    case 'integer': {
      if (column.isLong !== true) {
        return { ...optional('INT32'), valueAt: (row, run) => orNull(column.value(row, run)) }
      }
      const valueAt = (row: number, run: Run): bigint | null => {
        const value = column.value(row, run)
        return Number.isNaN(value) ? null : BigInt(value)
      }
      // Ids of a buoy's readings and their times usually come at equal intervals.
      return { ...optional('INT64'), encoding: 'DELTA_BINARY_PACKED', valueAt }
    }
    case 'time': {
      const time = {
        converted_type: 'TIMESTAMP_MILLIS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
      } as const
      const valueAt = (row: number, run: Run): number | null => orNull(column.value(row, run) * MS_PER_S)
      return { ...optional('INT64', time), encoding: 'DELTA_BINARY_PACKED', valueAt }
    }
    case 'text':
      return { ...optional('BYTE_ARRAY', text), valueAt: (row, run) => column.value(row, run) }
    case 'word': {
      return { ...optional('BYTE_ARRAY', text), valueAt: wordAt(column) }
    }
    case 'flag':
      return { ...optional('BOOLEAN'), valueAt: (row, run) => column.value(row, run) }
  }
}

/** Short words are few: their texts are made once, by their bytes as one number. */
const SHORT_WORD_BYTES = 3

function wordAt(column: WordColumn): (row: number, run: Run) => string | null {
  const writer = new JsonWriter(column.width)
  // The writer has room for the word, so it keeps its bytes.
  const bytes = Buffer.from(writer.bytes.buffer)
  const known = new Map<number, string>()
  return (row, run) => {
    writer.begin()
    column.write(writer, row, run)
    const { at } = writer
    if (at === 0) return null
    if (at > SHORT_WORD_BYTES) return bytes.toString('latin1', 0, at)
    return entryOf(known, bytes.readUIntLE(0, at), () => bytes.toString('latin1', 0, at))
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

/** Takes the next bytes of a file, which are overwritten when it returns. */
export type ByteSink = (bytes: Uint8Array) => void

/** Room that a writer begins with; it grows to the size of a row group. Exports have many at a time. */
const FIRST_ROOM_BYTES = 2 ** 16

class GroupBytes extends ByteWriter {
  readonly #sink: ByteSink

  constructor(sink: ByteSink) {
    super(FIRST_ROOM_BYTES)
    this.#sink = sink
  }

  /** The writer calls it after each row group. */
  flush(): void {
    if (this.index === 0) return
    this.#sink(new Uint8Array(this.buffer, 0, this.index))
    this.index = 0
  }

  override finish(): void {
    this.flush()
  }
}

export class ParquetFile {
  readonly #columns: readonly WrittenColumn[]
  readonly #writer: ParquetWriter
  #values: Value[][]

  /** @param metadata keys and values of the file, in the order of the file */
  constructor(columns: readonly Column[], metadata: { readonly [key: string]: string }, sink: ByteSink) {
    this.#columns = columns.map(written)
    this.#values = columns.map(() => [])
    this.#writer = new ParquetWriter({
      writer: new GroupBytes(sink),
      schema: [
        { name: 'groundswell', num_children: columns.length },
        ...this.#columns.map(({ element }) => element),
      ],
      kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
      createdBy: CREATED_BY,
    })
  }

  /** Rows of the row group under way. */
  get rows(): number {
    return this.#values[0].length
  }

  /** Takes rows into the row group under way. */
  add(run: Run): void {
    const { from, step, count } = run
    this.#columns.forEach((column, i) => {
      const values = this.#values[i]
      for (let k = 0, row = from; k < count; k++, row += step) values.push(column.valueAt(row, run))
    })
  }

  /** Writes the row group, if it has rows: some readers refuse one without. */
  group(): void {
    if (this.rows === 0) return
    const columnData = this.#columns.map(({ name, encoding, statistics }, i) => ({
      name,
      statistics,
      data: this.#values[i],
      ...(encoding !== undefined && { encoding }),
    }))
    void this.#writer.write({ columnData, rowGroupSize: this.rows })
    this.#values = this.#columns.map(() => [])
  }

  /** Writes the last row group and the footer: without it the bytes are not a Parquet file. */
  finish(): void {
    this.group()
    void this.#writer.finish()
  }
}

/** Rows of a row group: 30 ms of work, and 250 KB with all columns of readings. */
const GROUP_ROWS = 10_000

export function parquetPieces(table: Table, columns: readonly Column[], snapshot: string): Pieces {
  const rows = new TableRows(table)
  // Its times are instants, whatever the zone of texts.
  const units = columns.flatMap(({ name, unit, kind }) => {
    if (unit === '') return []
    return [[name, kind === 'time' ? 'UTC' : unit]]
  })
  const metadata = { snapshot, ...table.about, units: JSON.stringify(Object.fromEntries(units)) }
  // The writer of the piece that is being written.
  let into: JsonWriter | null = null
  const file = new ParquetFile(columns, metadata, (bytes) => into!.take(bytes))
  return {
    next(writer) {
      into = writer
      while (file.rows < GROUP_ROWS) {
        const run = rows.take(GROUP_ROWS - file.rows)
        if (run === null) {
          file.finish()
          return true
        }
        file.add(run)
      }
      file.group()
      return false
    },
  }
}
