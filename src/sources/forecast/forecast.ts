/**
 * Forecasts of public services, one answer a file: Open-Meteo JSON (marine and weather, one position or
 * many), CoverageJSON of OGC EDR services, and the griddap or tabledap JSON of ERDDAP. A file's content says
 * which. Some services answer one quantity at a time, so everything about one point is gathered over all
 * files.
 *
 *     DIR/*           answers, plain or gzip, with any names
 *     DIR/points.csv  file,lat,lng: positions of answers that leave them out, as many EDR services do
 *
 * A file that cannot be understood is reported and skipped whole.
 */
import { SeparatedTable } from '../reading/table.ts'
import { join } from 'node:path'
import { BuildError } from '../../system/build-error.ts'
import { degreesOf } from '../reading/fields.ts'
import type { FileReport, OpenSource, Sink, SourceContext } from '../source.ts'
import { POSITIONS_FILE, seriesOf } from './answers.ts'
import { NOTHING_USED, quantitiesOf } from './quantities.ts'
import { gather, type Place, recordsOf } from './points.ts'
import { listSource, readText, WholeFiles } from '../reading/files.ts'

/**
 * An answer is held whole, as text and as objects of ten times its size: ask for fewer positions at a time.
 */
const MAX_ANSWER_BYTES = 64 * 2 ** 20

const MAX_POSITIONS_BYTES = 16 * 2 ** 20
const COMMA = 44
type Positions = ReadonlyMap<string, { lat: number; lng: number }>

/** The operator's options. */
interface ForecastOptions {
  /** What the answers' model is called: most services do not name it. */
  model?: string
}

/** JSON schema (draft 7) of `ForecastOptions`. */
export const FORECAST_OPTIONS: { readonly [keyword: string]: unknown } = {
  type: 'object',
  additionalProperties: false,
  properties: { model: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[^\\x00-\\x1f]+$' } },
}

/** Opens `folder` as a set of forecast answers. */
export const openForecast: OpenSource = (folder, options: ForecastOptions = {}) => ({
  read: (sink, context) => readFolder(folder, options, sink, context),
})

async function readFolder(
  folder: string,
  { model }: ForecastOptions,
  sink: Sink,
  { report }: SourceContext,
): Promise<void> {
  const root = await listSource('forecast', folder)
  const positions = root.files.includes(POSITIONS_FILE)
    ? await readPositions(join(folder, POSITIONS_FILE), report.file(join(folder, POSITIONS_FILE)))
    : new Map<string, never>()
  const places = new Map<string, Place>()
  const files = new WholeFiles('forecast', report)
  for (const name of root.files) {
    if (name === POSITIONS_FILE) continue
    const path = join(folder, name)
    const file = report.file(path)
    await files.use(path, async () => {
      const series = seriesOf(await readText(path, file, MAX_ANSWER_BYTES), positions.get(name))
      if (series.length === 0) file.skipped(NOTHING_USED)
      // A fault is found before anything of the file is taken.
      const taken = series.map((one) => ({ one, quantities: quantitiesOf(one, file) }))
      for (const { one, quantities } of taken) {
        gather(places, one, quantities)
        file.rows(one.times.length)
      }
      file.end()
    })
  }
  files.expectUsed()
  const records = recordsOf(places)
  if (records.length === 0) report.warn(`forecast: ${folder} has no forecast`)
  for (const record of records) sink.forecast(model === undefined ? record : { ...record, model })
}

async function readPositions(path: string, file: FileReport): Promise<Positions> {
  const table = new SeparatedTable(await readText(path, file, MAX_POSITIONS_BYTES), COMMA)
  if (table.labels.join() !== 'file,lat,lng') throw new BuildError(`${path}: the header is not file,lat,lng`)
  const positions = new Map<string, { lat: number; lng: number }>()
  while (table.next(file)) {
    const lat = degreesOf(table.text(1), 90)
    const lng = degreesOf(table.text(2), 180)
    if (Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(table.line, 'not a file name, a latitude and a longitude')
      continue
    }
    positions.set(table.text(0), { lat, lng })
    file.rows(1)
  }
  file.end()
  return positions
}
