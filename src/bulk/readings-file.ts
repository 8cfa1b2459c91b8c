/** Readings of a network and month as the bytes of a file. */
import { setImmediate } from 'node:timers/promises'
import { READING_COLUMNS, type ReadingColumn, type Run } from '../parquet/columns.ts'
import { ParquetFile, type ByteSink } from '../parquet/writer.ts'
import { timestampText } from '../sea/time.ts'
import { MEASURES } from '../sea/columns.ts'
import { csvText } from './csv.ts'
import type { ExportFormat } from '../snapshot/file-list.ts'
import { groupsOf, type BulkNetwork } from './networks.ts'

/** A row group: some 5 MB of values in memory, and an eighth of a second of work. */
const GROUP_ROWS = 50_000
/** Rows of CSV that are written at a time. */
const CSV_ROWS = 5000
export const CREATED_BY = 'groundswell'

const C = READING_COLUMNS
/** In this order, in both formats. What follows from them (uuid, compass, energy) is left out. */
const COLUMNS: readonly ReadingColumn[] = [
  C.buoy_id,
  C.buoy_slug,
  C.source,
  C.id,
  C.time,
  C.significient_height,
  C.maximum_height,
  C.period,
  C.peak_period,
  C.direction,
  C.water_temperature,
  C.wind_speed,
  C.wind_direction,
  C.gust_speed,
]

/** Column names and units, as JSON. */
export const UNITS = JSON.stringify(
  Object.fromEntries(COLUMNS.flatMap(({ name, unit }) => (unit === null ? [] : [[name, unit]]))),
)

/** Where the data come from, as a file says it. */
export function metadataOf(
  { source, credit, licence }: Pick<BulkNetwork, 'source' | 'credit' | 'licence'>,
  snapshot: string,
  isDemo: boolean,
): { [key: string]: string } {
  return {
    snapshot,
    ...(isDemo && { demo: 'true' }),
    source,
    ...(credit !== null && { credit }),
    ...(licence !== null && { licence }),
    units: UNITS,
  }
}

/** Writes all rows of `runs`. Lets timers and sockets in between. */
export async function writeReadings(
  format: ExportFormat,
  runs: readonly Run[],
  metadata: { readonly [key: string]: string },
  sink: ByteSink,
): Promise<void> {
  if (format === 'csv') {
    sink(Buffer.from(`${COLUMNS.map(({ name }) => name).join(',')}\r\n`))
    for (const group of groupsOf(runs, CSV_ROWS)) {
      sink(csvRows(group.runs))
      await setImmediate()
    }
    return
  }
  const file = new ParquetFile(COLUMNS, metadata, CREATED_BY, sink)
  for (const { runs: group, count } of groupsOf(runs, GROUP_ROWS)) {
    file.group(COLUMNS.map((column) => column.values(group, count)))
    await setImmediate()
  }
  file.finish()
}

const MEASURED = [
  MEASURES.significantHeight,
  MEASURES.maximumHeight,
  MEASURES.period,
  MEASURES.peakPeriod,
  MEASURES.direction,
  MEASURES.waterTemperature,
  MEASURES.windSpeed,
  MEASURES.windDirection,
  MEASURES.gustSpeed,
]
const READING_ID_FACTOR = 1e10

/** Numbers with the digits that their source gave, as in the JSON answers. */
function csvRows(runs: readonly Run[]): Buffer {
  let text = ''
  for (const { buoy, rows, from, to } of runs) {
    const head = `${buoy.id},${csvText(buoy.slug)},${csvText(buoy.source)},`
    for (let row = from; row < to; row++) {
      const time = rows.time[row]
      text += `${head}${buoy.id * READING_ID_FACTOR + time},${timestampText(time)}`
      for (const { name, missing, scale } of MEASURED) {
        const { codes, mask } = rows.measures[name]
        const code = codes[row & mask]
        text += code === missing ? ',' : `,${code / scale}`
      }
      text += '\r\n'
    }
  }
  return Buffer.from(text)
}
