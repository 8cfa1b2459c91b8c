/**
 * Parquet files of readings: columns under the names of JSON, with types, units and values of the snapshot's
 * codes; and a writer that hands its bytes on after each row group.
 */
import { ByteWriter, ParquetWriter, type ColumnSource, type SchemaElement } from 'hyparquet-writer'
import type { MeasureColumn, MonthRows } from '../index/segments.ts'
import { MEASURES, type MeasureName } from '../sea/columns.ts'

/** What the rows of a buoy share. */
export interface RunBuoy {
  id: number
  slug: string
  /** The network's name on the wire. */
  source: string
}

/** Rows `from`, `from + step`, … to before `to` of a month, all of one buoy. */
export interface Run {
  buoy: RunBuoy
  rows: Pick<MonthRows, 'time' | 'measures'>
  from: number
  to: number
  step: number
}

export type Values = (number | bigint | string | boolean | Uint8Array | null)[]

export type Encoding = NonNullable<ColumnSource['encoding']>

export interface ReadingColumn {
  readonly name: string
  readonly element: SchemaElement
  /** The unit as in the README of the API; null for what has none. */
  readonly unit: string | null
  /** Without an encoding the writer chooses between a dictionary and plain values. */
  readonly encoding?: Encoding
  /** The values of some runs, `count` rows in all. */
  readonly values: (runs: readonly Run[], count: number) => Values
}

const MS_PER_S = 1000
/** A reading's id is its buoy's id times this, plus its time in epoch seconds. */
const READING_ID_FACTOR = 10_000_000_000n
/** Codes have 16 bits. */
const CODES = 2 ** 16

/** One value for all rows of a run. */
export function perBuoy(valueOf: (buoy: RunBuoy) => number | string): ReadingColumn['values'] {
  return (runs, count) => {
    const values: Values = Array.from({ length: count }, () => null)
    let at = 0
    for (const { buoy, from, to, step } of runs) {
      const value = valueOf(buoy)
      values.fill(value, at, (at += (to - from) * step))
    }
    return values
  }
}

/** A value that follows from a row's time. */
function perTime(valueOf: (time: number, buoy: RunBuoy) => bigint | number): ReadingColumn['values'] {
  return (runs, count) => {
    const values: Values = Array.from({ length: count }, () => null)
    let at = 0
    for (const { buoy, rows, from, to, step } of runs) {
      for (let row = from; row !== to; row += step) values[at++] = valueOf(rows.time[row], buoy)
    }
    return values
  }
}

/** Values of all codes; made when a measure is first written. */
const tables = new Map<MeasureName, (number | null)[]>()

function tableOf(name: MeasureName): (number | null)[] {
  const known = tables.get(name)
  if (known !== undefined) return known
  const { scale, signed, missing } = MEASURES[name]
  const table = Array.from({ length: CODES }, (_, bits) => {
    const code = signed ? (bits << 16) >> 16 : bits
    return code === missing ? null : code / scale
  })
  tables.set(name, table)
  return table
}

function perMeasure(name: MeasureName): ReadingColumn['values'] {
  return (runs, count) => {
    const table = tableOf(name)
    const values: Values = Array.from({ length: count }, () => null)
    let at = 0
    for (const { rows, from, to, step } of runs) {
      const { codes, mask }: MeasureColumn = rows.measures[name]
      for (let row = from; row !== to; row += step) values[at++] = table[codes[row & mask] & 0xffff]
    }
    return values
  }
}

export const textElement = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type: 'OPTIONAL',
})

export const integerElement = (name: string): SchemaElement => ({
  name,
  type: 'INT32',
  repetition_type: 'OPTIONAL',
})

function measureColumn(name: string, measure: MeasureName): ReadingColumn {
  const { unit } = MEASURES[measure]
  return {
    name,
    element: { name, type: 'DOUBLE', repetition_type: 'OPTIONAL' },
    unit: unit === 'degree' ? 'degrees clockwise from north' : unit,
    values: perMeasure(measure),
  }
}

export const READING_COLUMNS = {
  buoy_id: {
    name: 'buoy_id',
    element: integerElement('buoy_id'),
    unit: null,
    encoding: 'DELTA_BINARY_PACKED',
    values: perBuoy(({ id }) => id),
  },
  buoy_slug: {
    name: 'buoy_slug',
    element: textElement('buoy_slug'),
    unit: null,
    encoding: 'RLE_DICTIONARY',
    values: perBuoy(({ slug }) => slug),
  },
  source: {
    name: 'source',
    element: textElement('source'),
    unit: null,
    encoding: 'RLE_DICTIONARY',
    values: perBuoy(({ source }) => source),
  },
  id: {
    name: 'id',
    element: { name: 'id', type: 'INT64', repetition_type: 'OPTIONAL' },
    unit: null,
    encoding: 'DELTA_BINARY_PACKED',
    values: perTime((time, { id }) => BigInt(id) * READING_ID_FACTOR + BigInt(time)),
  },
  time: {
    name: 'time',
    element: {
      name: 'time',
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
      repetition_type: 'OPTIONAL',
    },
    unit: 'UTC',
    values: perTime((time) => time * MS_PER_S),
  },
  significient_height: measureColumn('significient_height', 'significantHeight'),
  maximum_height: measureColumn('maximum_height', 'maximumHeight'),
  period: measureColumn('period', 'period'),
  peak_period: measureColumn('peak_period', 'peakPeriod'),
  direction: measureColumn('direction', 'direction'),
  water_temperature: measureColumn('water_temperature', 'waterTemperature'),
  wind_speed: measureColumn('wind_speed', 'windSpeed'),
  wind_direction: measureColumn('wind_direction', 'windDirection'),
  gust_speed: measureColumn('gust_speed', 'gustSpeed'),
  swell_height: measureColumn('swell_height', 'swellHeight'),
  swell_period: measureColumn('swell_period', 'swellPeriod'),
  swell_direction: measureColumn('swell_direction', 'swellDirection'),
  wind_wave_height: measureColumn('wind_wave_height', 'windWaveHeight'),
  wind_wave_period: measureColumn('wind_wave_period', 'windWavePeriod'),
  wind_wave_direction: measureColumn('wind_wave_direction', 'windWaveDirection'),
} as const satisfies { [name: string]: ReadingColumn }

/** Takes the next bytes of a file, which are overwritten when it returns. */
export type ByteSink = (bytes: Uint8Array) => void

export interface ParquetColumn {
  readonly name: string
  readonly element: SchemaElement
  readonly encoding?: Encoding
}

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
  readonly #columns: readonly ParquetColumn[]
  readonly #writer: ParquetWriter

  /** @param metadata keys and values of the file, in the order in which they stand there */
  constructor(
    columns: readonly ParquetColumn[],
    metadata: { readonly [key: string]: string },
    createdBy: string,
    sink: ByteSink,
  ) {
    this.#columns = columns
    this.#writer = new ParquetWriter({
      writer: new GroupBytes(sink),
      schema: [
        { name: 'groundswell', num_children: columns.length },
        ...columns.map(({ element }) => element),
      ],
      kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
      createdBy,
    })
  }

  /** Writes one row group: the values of each column, all of one length above 0. */
  group(values: readonly Values[]): void {
    const columnData = this.#columns.map(({ name, encoding }, i) => ({
      name,
      data: values[i],
      ...(encoding !== undefined && { encoding }),
    }))
    void this.#writer.write({ columnData, rowGroupSize: values[0].length })
  }

  /** Writes the footer: without it the bytes are not a Parquet file. */
  finish(): void {
    void this.#writer.finish()
  }
}
