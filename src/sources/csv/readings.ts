/** `readings/*.csv`: rows of buoys; an archive has hundreds of millions. */
import type { MeasureName } from '../../sea/columns.ts'
import { cleanName } from '../reading/fields.ts'
import { dropUnusable, measureColumns, readMeasures } from '../reading/measures.ts'
import { labelsFault, SeparatedTable } from '../reading/table.ts'
import { WaitingRows } from '../reading/waiting-rows.ts'
import type { FileReport, Sink } from '../source.ts'
import { RepeatedPair, timeOf } from './cells.ts'

const MEASURE_COLUMNS: readonly (readonly [label: string, name: MeasureName])[] = [
  ['significant_height', 'significantHeight'],
  ['maximum_height', 'maximumHeight'],
  ['period', 'period'],
  ['peak_period', 'peakPeriod'],
  ['direction', 'direction'],
  ['water_temperature', 'waterTemperature'],
  ['wind_speed', 'windSpeed'],
  ['wind_direction', 'windDirection'],
  ['gust_speed', 'gustSpeed'],
]
const KEYS = ['source', 'identifier', 'time']
const COLUMNS = [...KEYS, ...MEASURE_COLUMNS.map(([label]) => label)]

/** Handles of the buoys by source and identifier. */
export type Handles = Map<string, Map<string, number>>

/** Sends the rows of a file; a file with a faulty header is one bad line. */
export function sendReadings(bytes: Buffer, file: FileReport, handles: Handles, sink: Sink): void {
  const table = new SeparatedTable(bytes)
  const headerFault = labelsFault(table.labels, COLUMNS, KEYS)
  if (headerFault !== null) {
    file.bad(1, headerFault)
    return
  }
  const columns = measureColumns(table.labels, MEASURE_COLUMNS)
  const names = columns.map(({ name }) => name)
  const codes = new Int32Array(columns.length)
  const [source, identifier, timeColumn] = table.columns(KEYS)
  const buoy = new RepeatedPair(source, identifier)
  const waiting = new WaitingRows(sink)
  let handle: number | undefined
  let understood = 0
  while (table.next(file)) {
    if (!buoy.repeats(table))
      handle = handles.get(cleanName(table.text(source)))?.get(table.text(identifier).trim())
    if (handle === undefined) {
      const text = `${table.text(source)},${table.text(identifier)}`
      file.bad(table.line, 'this source and identifier are not in buoys.csv', text)
      continue
    }
    const time = timeOf(table, timeColumn)
    const fault =
      time < 0
        ? 'time is neither ISO 8601 with Z or an offset nor whole epoch seconds'
        : readMeasures(table, columns, codes, file)
    if (fault !== null) {
      file.bad(table.line, fault, table.text(time < 0 ? timeColumn : table.fields.wrong))
      continue
    }
    understood++
    if (dropUnusable(names, codes, file)) waiting.add(handle, time, names, codes)
  }
  waiting.flush()
  file.rows(understood)
}
