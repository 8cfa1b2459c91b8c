/** The chart of a buoy in words and as a table, for those who do not see it. */
import type { Chart } from '../../../clients/typescript/groundswell.ts'
import { element } from '../dom.ts'
import { dayAndTime, type Zone } from '../format.ts'
import { decimalText, scaleOf, type Scale, type Units } from '../mine/units.ts'

/** A day of readings; the API has all of them. */
const TABLE_ROWS = 48

/** The chart in a sentence. */
export function describeChart(
  { time, significant_height: heights }: Chart,
  zone: Zone,
  units: Units,
): string {
  let [low, high, highAt] = [Infinity, -Infinity, '']
  heights.forEach((height, i) => {
    if (height === null) return
    low = Math.min(low, height)
    if (height > high) [high, highAt] = [height, time[i] ?? '']
  })
  if (highAt === '') return 'Chart with no readings'
  const { from, digits } = scaleOf('height', units)
  const [lowest, highest] = [low, high].map((height) => decimalText(from(height), digits))
  const range = `significant heights from ${lowest} to ${highest} ${units.height === 'ft' ? 'feet' : 'metres'}`
  const when = `${dayAndTime(new Date(highAt), zone)} ${zone.label}`
  return `Chart of wave heights: ${range}, the highest on ${when}. A table follows.`
}

/** The newest readings of the chart, newest first. */
export function chartTable(chart: Chart, zone: Zone, units: Units): HTMLElement {
  const height = scaleOf('height', units)
  const columns = [`Time, ${zone.label}`, `Height ${height.unit}`, `Max ${height.unit}`, 'Period s']
  const head = columns.map((text) => element('th', { scope: 'col' }, text))
  return element(
    'details',
    { id: 'table' },
    element('summary', {}, 'Readings as a table'),
    element(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of readings' },
      element(
        'table',
        {},
        element('thead', {}, element('tr', {}, ...head)),
        element('tbody', {}, ...tableRows(chart, zone, height, scaleOf('period', units))),
      ),
    ),
  )
}

function tableRows(chart: Chart, zone: Zone, inHeight: Scale, inPeriod: Scale): HTMLElement[] {
  const rows: HTMLElement[] = []
  for (let i = chart.time.length - 1; i >= 0 && rows.length < TABLE_ROWS; i--) {
    const [time, height = null] = [chart.time[i], chart.significant_height[i]]
    if (time === undefined || height === null) continue
    rows.push(
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, dayAndTime(new Date(time), zone)),
        element('td', {}, numberText(height, inHeight)),
        element('td', {}, numberText(chart.maximum_height[i] ?? null, inHeight)),
        element('td', {}, numberText(chart.period[i] ?? null, inPeriod)),
      ),
    )
  }
  return rows
}

function numberText(value: number | null, { from, digits }: Scale): string {
  return value === null ? '–' : decimalText(from(value), digits)
}
