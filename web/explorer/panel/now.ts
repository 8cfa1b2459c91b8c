/**
 * What a buoy measures now: its newest reading, a chart of the last days with its text and table, and forecast
 * and tide beside it.
 */
import type { BuoyDetail, Chart, ReadingSummary } from '../../../clients/typescript/groundswell.ts'
import { buoyAddress, chartAddress, conditionsAddress } from '../addresses.ts'
import type { Answer } from '../answers.ts'
import { chartsModule, type Memory, memoryOf } from '../charts/loading.ts'
import { curlBox } from '../curl.ts'
import { ago, choices, element, icon } from '../dom.ts'
import { downloadBox } from '../downloads/box.ts'
import { compass, dayAndTime, type Zone } from '../format.ts'
import { decimalText, type Quantity, quantityText, type Scale, scaleOf, type Units } from '../mine/units.ts'
import type { Scene } from '../scene.ts'
import type { Span } from '../view.ts'
import { conditionsOf } from './conditions.ts'
import { readingsCredit } from './credits.ts'
import { chip, type Drawn, instead, note, waiting, zoneSwitch } from './pieces.ts'

const ARROW_ICON = 'M12 20V4M6 10l6-6 6 6'
const SPAN_LABELS: readonly { value: Span; label: string }[] = [
  { value: 2, label: '2 days' },
  { value: 7, label: 'Week' },
  { value: 28, label: '4 weeks' },
]

export function drawNow(scene: Scene, buoy: BuoyDetail, zone: Zone, redraw: () => void): Drawn {
  const addresses = {
    buoy: buoyAddress(scene, buoy.slug),
    chart: chartAddress(scene, buoy, scene.view.span),
    conditions: conditionsAddress(scene, buoy),
  }
  const chart = scene.answers.get(addresses.chart)
  const conditions = scene.answers.get(addresses.conditions)
  const charts = chartsModule(redraw)
  const plots = element('div', { class: 'plots' })
  const data = chart.state === 'here' && chart.data.time.length > 0 ? chart.data : null
  const drawn =
    charts === null || data === null
      ? null
      : {
          memory: memoryOf(`${buoy.slug} ${scene.view.span}`),
          draw: (place: HTMLElement, memory: Memory) =>
            charts.drawReadings(place, data, zone, scene.units, memory),
        }
  const nodes = [
    latest(scene, buoy.last_reading, zone),
    readingsCredit(buoy, scene.api.isDemo),
    zoneSwitch(scene, 'Buoy’s'),
    chartSection(scene, chart, charts !== null, plots, zone),
    element('h3', {}, 'Forecast and tide now'),
    conditions.state === 'here'
      ? conditionsOf(scene, conditions.data, zone, { withReading: false })
      : instead(conditions, 'the conditions'),
    downloadBox(scene, ({ offersOfNow }) =>
      offersOfNow(scene, buoy, data, conditions.state === 'here' ? conditions.data : null, zone, drawn),
    ),
    curlBox(scene, [
      { label: 'This buoy', address: addresses.buoy },
      { label: 'Chart', address: addresses.chart },
      { label: 'Forecast and tide', address: addresses.conditions },
    ]),
  ]
  const title = buoy.name
  return drawn === null
    ? { title, nodes }
    : { title, nodes, afterwards: () => drawn.draw(plots, drawn.memory) }
}

function chartSection(
  scene: Scene,
  chart: Answer<Chart>,
  canDraw: boolean,
  plots: HTMLElement,
  zone: Zone,
): HTMLElement {
  const spans = choices('span', 'Days of the chart', SPAN_LABELS, scene.view.span, (span) =>
    scene.update({ span }),
  )
  const data = chart.state === 'here' ? chart.data : null
  const description = data === null ? 'Chart' : describeChart(data, zone, scene.units)
  const isEmpty = data?.time.length === 0
  return element(
    'section',
    { 'aria-label': 'Chart' },
    element('div', { class: 'section-head' }, element('h3', {}, 'Waves'), spans),
    instead(chart, 'the chart') ?? (canDraw ? null : waiting('the chart')),
    isEmpty
      ? note('No readings in this period.')
      : element('figure', { role: 'group', 'aria-label': description }, plots),
    data === null || isEmpty ? null : chartTable(data, zone, scene.units),
  )
}

export function latest(scene: Scene, reading: ReadingSummary | null, zone: Zone): HTMLElement {
  if (reading === null) return element('p', { class: 'trouble' }, 'This buoy has no readings.')
  const time = new Date(reading.time)
  const height = scaleOf('height', scene.units)
  return element(
    'div',
    { class: 'latest' },
    element(
      'p',
      { class: 'hero' },
      chip(reading.significient_height),
      element('strong', {}, decimalText(height.from(reading.significient_height), height.digits)),
      ` ${height.unit}`,
      element('span', { class: 'hero-label' }, 'significant height'),
    ),
    element(
      'p',
      { class: 'age' },
      ago(reading.time, scene.clock()),
      ` · ${dayAndTime(time, zone)} ${zone.label}`,
    ),
    figures(scene, reading),
  )
}

/** What was measured in addition to the height; null where nothing was. */
function figures(scene: Scene, reading: ReadingSummary): HTMLElement | null {
  const { maximum_height: maximum, period, direction: from, water_temperature: water } = reading
  if ([maximum, period, from, water].every((value) => value === null)) return null
  return element(
    'dl',
    { class: 'figures' },
    figure('Maximum', withUnit(scene, 'height', maximum)),
    figure('Period', withUnit(scene, 'period', period)),
    figure('From', direction(from)),
    figure('Water', withUnit(scene, 'temperature', water)),
  )
}

function figure(label: string, value: Node | string): HTMLElement {
  return element('div', {}, element('dt', {}, label), element('dd', {}, value))
}

/** A tenth is enough next to the newest height. */
function withUnit(scene: Scene, quantity: Quantity, value: number | null): string | HTMLElement {
  return value === null ? notMeasured() : quantityText(quantity, scene.units, value, 1)
}

function notMeasured(): HTMLElement {
  return element(
    'span',
    { class: 'missing' },
    element('span', { 'aria-hidden': 'true' }, '–'),
    element('span', { class: 'hidden' }, 'not measured'),
  )
}

/** Waves come from there, so the arrow points the other way. */
function direction(degrees: number | null): HTMLElement {
  if (degrees === null) return notMeasured()
  const arrow = icon(ARROW_ICON, 'icon arrow')
  arrow.style.transform = `rotate(${degrees + 180}deg)`
  return element('span', {}, arrow, ` ${compass(degrees)} ${degrees}°`)
}

/** A day of readings; the API has all of them. */
const TABLE_ROWS = 48

/** The chart in a sentence. */
function describeChart({ time, significant_height: heights }: Chart, zone: Zone, units: Units): string {
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
function chartTable(chart: Chart, zone: Zone, units: Units): HTMLElement {
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
