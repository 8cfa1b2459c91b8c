/** The panel beside the map: the list of buoys, one buoy, or one point of the sea. */
import type {
  BuoyDetail,
  ChartData,
  Conditions,
  MapBuoy,
  Reading,
  SatellitePass,
  SeriesData,
  SeriesYear,
} from './api.ts'
import type { Answer } from './answers.ts'
import type * as Charts from './charts.ts'
import { curlBox } from './curl.ts'
import { ago, choices, element, icon, select } from './dom.ts'
import { clockTime, compass, dayAndTime, decimals, place, type Zone } from './format.ts'
import { classOf, HEIGHT_COLORS } from './heights.ts'
import { chosenZone, type Scene } from './scene.ts'
import type { Metric, SeasonName, Span } from './view.ts'

/** What is drawn into the panel, and what ends its charts. */
export interface Drawn {
  title: string
  nodes: (Node | null)[]
  /** Called when the nodes stand in the page: charts need their width. Returns what removes them. */
  afterwards?: () => () => void
}

const BACK = 'M15 5l-7 7 7 7'
const ARROW = 'M12 20V4M6 10l6-6 6 6'

/** Rows of the list before the visitor asks for all. */
const FIRST_ROWS = 100
const DAY_MS = 86_400_000

let charts: typeof Charts | null = null
let chartsAsked = false

/** The charts, or null while they load; `onLoaded` draws again. */
function chartsModule(onLoaded: () => void): typeof Charts | null {
  if (charts === null && !chartsAsked) {
    chartsAsked = true
    import('./charts.ts').then(
      (loaded) => {
        charts = loaded
        onLoaded()
      },
      () => {
        chartsAsked = false
      },
    )
  }
  return charts
}

function chip(scene: Scene, height: number | null, isVirtual = false): HTMLElement {
  const made = element('span', { class: isVirtual ? 'chip ring' : 'chip', 'aria-hidden': 'true' })
  if (height !== null) made.style.setProperty('--height-color', HEIGHT_COLORS[scene.theme][classOf(height)])
  return made
}

const waiting = (what: string): HTMLElement =>
  element(
    'p',
    { class: 'waiting' },
    element('span', { class: 'spinner', 'aria-hidden': 'true' }),
    `Loading ${what} …`,
  )

/** What stands in the place of an answer that has not come. */
function instead(answer: Answer<unknown>, what: string): HTMLElement | null {
  if (answer.state === 'waiting') return waiting(what)
  if (answer.state === 'here') return null
  const { kind, message } = answer.trouble
  const text =
    kind === 'quota'
      ? 'This comes when the hour’s quota is renewed.'
      : kind === 'unauthorized'
        ? 'This needs an API key.'
        : kind === 'offline'
          ? 'No connection.'
          : message
  return element('p', { class: 'trouble' }, text)
}

/** Addresses of what a panel shows, the same for drawing and for curl. */
export const addresses = {
  map: (scene: Scene) => scene.api.address('/buoys/map'),
  passes: (scene: Scene) => scene.api.address('/buoys/satellite_passes', { limit: 6 }),
  buoy: (scene: Scene, slug: string) => scene.api.address(`/buoys/${encodeURIComponent(slug)}`),
  chart: (scene: Scene, slug: string, span: Span, newest: string | null) =>
    scene.api.address(`/buoys/${encodeURIComponent(slug)}/readings/chart`, chartRange(span, newest)),
  series: (scene: Scene, slug: string) => {
    const { metric, season } = scene.view
    const thisYear = new Date(scene.clock()).getUTCFullYear()
    return scene.api.address(`/buoys/${encodeURIComponent(slug)}/readings/series`, {
      metric,
      bucket: season === 'year' ? 'week' : 'day',
      start_year: thisYear - 9,
      end_year: thisYear,
      ...SEASON_DATES[season],
    })
  },
  conditions: (scene: Scene, { lat, lng }: { lat: number; lng: number }) =>
    scene.api.address('/conditions', { lat: Number(lat.toFixed(4)), lng: Number(lng.toFixed(4)) }),
}

/** The usual range of the operation is a week back and three days ahead. */
function chartRange(span: Span, newest: string | null): { [name: string]: string | null } {
  if (span === 7 || newest === null) return {}
  const at = Date.parse(newest)
  const text = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
  return { start_date: text(at - span * DAY_MS), end_date: text(at + (span === 2 ? 1 : 3) * DAY_MS) }
}

const SEASON_DATES: { readonly [season in SeasonName]: { readonly [name: string]: number } } = {
  year: {},
  winter: { start_month: 12, start_day: 1, end_month: 2, end_day: 29 },
  spring: { start_month: 3, start_day: 1, end_month: 5, end_day: 31 },
  summer: { start_month: 6, start_day: 1, end_month: 8, end_day: 31 },
  autumn: { start_month: 9, start_day: 1, end_month: 11, end_day: 30 },
}

export type Order = 'height' | 'name' | 'age'

export interface ListState {
  order: Order
  all: boolean
  onChange: () => void
  onKey: () => void
}

export function drawList(scene: Scene, list: ListState): Drawn {
  const title = 'Buoys now'
  const answer = scene.answers.get<{ buoys: MapBuoy[] }>(addresses.map(scene))
  if (answer.state !== 'here') {
    const needsKey = answer.state === 'failed' && answer.trouble.kind === 'unauthorized'
    return {
      title,
      nodes: [
        element('h2', { tabindex: -1 }, title),
        needsKey ? keyInvitation(list.onKey) : instead(answer, 'the buoys'),
      ],
    }
  }
  const shown = scene.view.satellites
    ? answer.data.buoys
    : answer.data.buoys.filter(({ virtual }) => !virtual)
  const sorted = shown.toSorted(ORDERS[list.order])
  const rows = list.all ? sorted : sorted.slice(0, FIRST_ROWS)
  const count = `${shown.length} ${shown.length === 1 ? 'buoy' : 'buoys'} with a reading of the last day`
  return {
    title,
    nodes: [
      element('h2', { tabindex: -1 }, title),
      element('p', { class: 'sub' }, shown.length === 0 ? 'No buoy has a reading of the last day.' : count),
      scene.view.satellites ? passList(scene) : null,
      scene.view.satellites ? element('h3', {}, 'Readings') : null,
      shown.length === 0
        ? null
        : choices(
            'order',
            'Order of the list',
            [
              { value: 'height', label: 'Highest' },
              { value: 'name', label: 'Name' },
              { value: 'age', label: 'Newest' },
            ],
            list.order,
            (order) => {
              list.order = order
              list.onChange()
            },
          ),
      element('ul', { class: 'buoys' }, ...rows.map((buoy) => buoyRow(scene, buoy))),
      rows.length === sorted.length
        ? null
        : element(
            'button',
            {
              type: 'button',
              onclick: () => {
                list.all = true
                list.onChange()
              },
            },
            `Show all ${sorted.length}`,
          ),
      curlBox(scene, [
        { label: 'All buoys of the map', address: addresses.map(scene) },
        ...(scene.view.satellites
          ? [{ label: 'Latest satellite passes', address: addresses.passes(scene) }]
          : []),
      ]),
    ],
  }
}

const heightOf = ({ last_reading: reading }: MapBuoy): number => reading?.significient_height ?? -1
const ORDERS: { readonly [order in Order]: (a: MapBuoy, b: MapBuoy) => number } = {
  height: (a, b) => heightOf(b) - heightOf(a) || a.name.localeCompare(b.name),
  name: (a, b) => a.name.localeCompare(b.name),
  age: (a, b) =>
    (b.last_reading_time ?? '').localeCompare(a.last_reading_time ?? '') || a.name.localeCompare(b.name),
}

function buoyRow(scene: Scene, { slug, name, source, virtual, last_reading: reading }: MapBuoy): HTMLElement {
  const height = reading?.significient_height ?? null
  const age = reading === null ? 'no reading' : ago(reading.time, scene.clock())
  return element(
    'li',
    {},
    element(
      'a',
      {
        href: `#buoy=${slug}`,
        id: `row-${slug}`,
        onclick: (event) => {
          event.preventDefault()
          scene.update({ buoy: slug, point: null })
        },
      },
      chip(scene, height, virtual),
      element('span', { class: 'row-name' }, name, element('small', {}, `${source} · `, age)),
      element('span', { class: 'row-height' }, height === null ? '–' : `${height.toFixed(1)} m`),
    ),
  )
}

function keyInvitation(onKey: () => void): HTMLElement {
  return element(
    'div',
    { class: 'invitation' },
    element('p', {}, 'Readings need an API key. Searching for a buoy needs none.'),
    element('button', { type: 'button', class: 'primary', id: 'invite-key', onclick: onKey }, 'Enter a key'),
  )
}

function passList(scene: Scene): HTMLElement {
  const answer = scene.answers.get<{ satellite_passes: SatellitePass[] }>(addresses.passes(scene))
  const zone = chosenZone({ ...scene, view: { ...scene.view, zone: 'utc' } }, 'UTC')
  return element(
    'section',
    { class: 'passes' },
    element('h3', {}, 'Latest satellite passes'),
    element(
      'p',
      { class: 'note' },
      'Rings on the map are fixed points of the sea that altimeters measure as they pass.',
    ),
    instead(answer, 'the passes'),
    answer.state !== 'here'
      ? null
      : answer.data.satellite_passes.length === 0
        ? element('p', { class: 'note' }, 'No pass of the last day.')
        : element(
            'ul',
            { class: 'buoys' },
            ...answer.data.satellite_passes.map((pass) => {
              const chosen = scene.chosenPass?.id === pass.id
              return element(
                'li',
                {},
                element(
                  'button',
                  {
                    type: 'button',
                    class: 'pass',
                    id: `pass-${pass.id}`,
                    'aria-pressed': String(chosen),
                    onclick: () => scene.choosePass(chosen ? null : pass),
                  },
                  element(
                    'span',
                    { class: 'row-name' },
                    pass.platform,
                    element(
                      'small',
                      {},
                      `${dayAndTime(new Date(pass.started_at), zone)} – ${clockTime(new Date(pass.ended_at), zone)} UTC`,
                    ),
                  ),
                  element(
                    'span',
                    { class: 'row-height' },
                    `${pass.buoy_count} ${pass.buoy_count === 1 ? 'point' : 'points'}`,
                  ),
                ),
              )
            }),
          ),
  )
}

function back(scene: Scene): HTMLElement {
  return element(
    'button',
    {
      type: 'button',
      class: 'back',
      id: 'back',
      onclick: () => scene.update({ buoy: null, point: null, tab: 'now' }),
    },
    icon(BACK),
    'All buoys',
  )
}

function zoneSwitch(scene: Scene, where: string): HTMLElement {
  return element(
    'div',
    { class: 'zone' },
    element('span', { 'aria-hidden': 'true' }, 'Times'),
    choices(
      'zone',
      'Times in the zone of',
      [
        { value: 'buoy' as const, label: where },
        { value: 'utc' as const, label: 'UTC' },
        { value: 'viewer' as const, label: 'Mine' },
      ],
      scene.view.zone,
      (zone) => scene.update({ zone }),
    ),
  )
}

export function drawBuoy(scene: Scene, slug: string, redraw: () => void): Drawn {
  const answer = scene.answers.get<{ buoy: BuoyDetail }>(addresses.buoy(scene, slug))
  if (answer.state !== 'here') {
    // The map knows the name while the details are on their way.
    const name = scene.buoys?.find((buoy) => buoy.slug === slug)?.name ?? slug
    const isUnknown = answer.state === 'failed' && answer.trouble.kind === 'not found'
    return {
      title: name,
      nodes: [
        back(scene),
        element('h2', { tabindex: -1 }, isUnknown ? 'No such buoy' : name),
        instead(answer, 'the buoy'),
      ],
    }
  }
  const { buoy } = answer.data
  const zone = chosenZone(scene, buoy.timezone)
  const tab = (value: 'now' | 'seasons', label: string): HTMLElement =>
    element(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${value}`,
        'aria-selected': String(scene.view.tab === value),
        'aria-controls': 'tab-panel',
        tabindex: scene.view.tab === value ? 0 : -1,
        onclick: () => scene.update({ tab: value }),
        onkeydown: (event) => {
          if (!['ArrowLeft', 'ArrowRight'].includes((event as KeyboardEvent).key)) return
          const other = value === 'now' ? 'seasons' : 'now'
          scene.update({ tab: other })
          document.getElementById(`tab-${other}`)?.focus()
        },
      },
      label,
    )
  const body =
    scene.view.tab === 'now' ? drawNow(scene, buoy, zone, redraw) : drawSeasons(scene, buoy, redraw)
  return {
    title: buoy.name,
    nodes: [
      back(scene),
      element('h2', { tabindex: -1 }, buoy.name),
      element(
        'p',
        { class: 'sub' },
        [buoy.country, `${buoy.source} ${buoy.source_identifier}`, place(buoy.lat, buoy.lng)]
          .filter((part) => part !== null && part !== '')
          .join(' · '),
      ),
      element(
        'div',
        { role: 'tablist', class: 'tabs', 'aria-label': 'What to see' },
        tab('now', 'Now'),
        tab('seasons', 'Seasons'),
      ),
      element(
        'div',
        { role: 'tabpanel', id: 'tab-panel', 'aria-labelledby': `tab-${scene.view.tab}` },
        ...body.nodes.filter((node) => node !== null),
      ),
    ],
    ...(body.afterwards === undefined ? {} : { afterwards: body.afterwards }),
  }
}

function latest(scene: Scene, reading: Reading | null, zone: Zone): HTMLElement {
  if (reading === null) return element('p', { class: 'trouble' }, 'This buoy has no reading.')
  const time = new Date(reading.time)
  const age = (scene.clock() - time.getTime()) / 1000
  const figure = (label: string, value: Node | string): HTMLElement =>
    element('div', {}, element('dt', {}, label), element('dd', {}, value))
  return element(
    'div',
    { class: 'latest' },
    element(
      'p',
      { class: 'hero' },
      chip(scene, reading.significient_height),
      element('strong', {}, decimals(reading.significient_height, 2)),
      ' m',
      element('span', { class: 'hero-label' }, 'significant height'),
    ),
    element(
      'p',
      { class: age > 3 * 3600 ? 'age old' : 'age' },
      ago(reading.time, scene.clock()),
      ` · ${dayAndTime(time, zone)} ${zone.label}`,
    ),
    element(
      'dl',
      { class: 'figures' },
      figure('Maximum', withUnit(reading.maximum_height, 1, 'm')),
      figure('Period', withUnit(reading.period, 1, 's')),
      figure('From', direction(reading.direction)),
      figure('Water', withUnit(reading.water_temperature, 1, '°C')),
    ),
  )
}

function withUnit(value: number | null, digits: number, unit: string): string | HTMLElement {
  return value === null ? notMeasured() : `${decimals(value, digits)} ${unit}`
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
  const arrow = icon(ARROW, 'icon arrow')
  arrow.style.transform = `rotate(${degrees + 180}deg)`
  return element('span', {}, arrow, ` ${compass(degrees)} ${degrees}°`)
}

const SPAN_LABELS: readonly { value: Span; label: string }[] = [
  { value: 2, label: '2 days' },
  { value: 7, label: 'Week' },
  { value: 28, label: '4 weeks' },
]

function drawNow(scene: Scene, buoy: BuoyDetail, zone: Zone, redraw: () => void): Drawn {
  const chartAddress = addresses.chart(scene, buoy.slug, scene.view.span, buoy.last_reading_time)
  const conditionsAddress = addresses.conditions(scene, buoy)
  const chart = scene.answers.get<ChartData>(chartAddress)
  const conditions = scene.answers.get<Conditions>(conditionsAddress)
  const module = chartsModule(redraw)
  const places = {
    heights: element('div', { class: 'plot' }),
    periods: element('div', { class: 'plot' }),
    tide: element('div', { class: 'plot' }),
  }
  const isReady = chart.state === 'here' && module !== null
  return {
    title: buoy.name,
    nodes: [
      latest(scene, buoy.last_reading, zone),
      zoneSwitch(scene, 'Buoy’s'),
      element(
        'section',
        { 'aria-label': 'Chart' },
        element(
          'div',
          { class: 'section-head' },
          element('h3', {}, 'Waves'),
          choices('span', 'Days of the chart', SPAN_LABELS, scene.view.span, (span) =>
            scene.update({ span }),
          ),
        ),
        instead(chart, 'the chart') ?? (module === null ? waiting('the chart') : null),
        chart.state === 'here' && chart.data.time.length === 0
          ? element('p', { class: 'note' }, 'No readings in these days.')
          : element(
              'figure',
              {
                role: 'group',
                'aria-label': chart.state === 'here' ? describeChart(chart.data, zone) : 'Chart',
              },
              places.heights,
              places.periods,
              places.tide,
            ),
        chart.state === 'here' ? chartTable(chart.data, zone) : null,
      ),
      element('h3', {}, 'Forecast and tide now'),
      instead(conditions, 'the conditions') ??
        conditionsOf(scene, (conditions as { data: Conditions }).data, zone, false),
      curlBox(scene, [
        { label: 'This buoy', address: addresses.buoy(scene, buoy.slug) },
        { label: 'Chart', address: chartAddress },
        { label: 'Forecast and tide', address: conditionsAddress },
      ]),
    ],
    ...(isReady && chart.data.time.length > 0
      ? {
          afterwards: () => {
            const drawing = module.drawReadings(places, chart.data, zone)
            return () => drawing.destroy()
          },
        }
      : {}),
  }
}

/** The chart in a sentence, for those who do not see it. */
function describeChart(data: ChartData, zone: Zone): string {
  let [low, high, highAt] = [Infinity, -Infinity, '']
  data.significant_height.forEach((height, i) => {
    if (height === null) return
    low = Math.min(low, height)
    if (height > high) [high, highAt] = [height, data.time[i]]
  })
  if (highAt === '') return 'Chart without readings'
  return `Chart of wave heights: significant heights from ${low.toFixed(2)} to ${high.toFixed(2)} metres, the highest on ${dayAndTime(new Date(highAt), zone)} ${zone.label}. A table follows.`
}

/** The newest rows are what one wants to read; all are in the API. */
const TABLE_ROWS = 48

function chartTable(data: ChartData, zone: Zone): HTMLElement {
  const rows: HTMLElement[] = []
  for (let i = data.time.length - 1; i >= 0 && rows.length < TABLE_ROWS; i--) {
    if (data.significant_height[i] === null) continue
    rows.push(
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, dayAndTime(new Date(data.time[i]), zone)),
        element('td', {}, decimals(data.significant_height[i], 2)),
        element('td', {}, decimals(data.maximum_height[i], 2)),
        element('td', {}, decimals(data.period[i], 1)),
      ),
    )
  }
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
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ...[`Time, ${zone.label}`, 'Height m', 'Max m', 'Period s'].map((text) =>
              element('th', { scope: 'col' }, text),
            ),
          ),
        ),
        element('tbody', {}, ...rows),
      ),
    ),
  )
}

function conditionsOf(
  scene: Scene,
  { forecast, reading, tide, metadata }: Conditions,
  zone: Zone,
  withReading: boolean,
): HTMLElement {
  const fact = (label: string, ...value: (string | Node | null)[]): HTMLElement =>
    element('div', {}, element('dt', {}, label), element('dd', {}, ...value))
  const waves = (height: number | null, period: number | null, from: string | null): string =>
    [
      `${decimals(height, 1)} m`,
      period === null ? null : `${decimals(period, 0)} s`,
      from === null ? null : `from ${from}`,
    ]
      .filter((part) => part !== null)
      .join(', ')
  const facts: HTMLElement[] = []
  if (withReading && reading.exists) {
    facts.push(
      fact(
        'Nearest buoy',
        `${decimals(reading.significient_height, 2)} m `,
        ago(reading.time, scene.clock()),
        ` at ${reading.buoy.name}, ${Math.round(reading.buoy.distance_km)} km away`,
      ),
    )
  }
  if (forecast.waves_height !== null) {
    facts.push(fact('Waves', waves(forecast.waves_height, forecast.waves_period, forecast.waves_direction)))
  }
  if (forecast.swell_height !== null) {
    facts.push(fact('Swell', waves(forecast.swell_height, forecast.swell_period, forecast.swell_direction)))
  }
  if (forecast.wind_speed !== null) {
    facts.push(
      fact(
        'Wind',
        `${decimals(forecast.wind_speed, 0)} km/h${forecast.wind_direction === null ? '' : ` from ${forecast.wind_direction}`}`,
      ),
    )
  }
  if (tide.height !== null && tide.seconds_to_next_tide_change !== null) {
    const change = new Date(scene.clock() + tide.seconds_to_next_tide_change * 1000)
    facts.push(
      fact(
        'Tide',
        `${decimals(tide.height, 2)} m, ${tide.direction ?? ''}; ${tide.next_tide ?? ''} ${decimals(tide.next_tide_height, 2)} m at ${clockTime(change, zone)} ${zone.label}`,
        element('small', {}, tide.harbor ?? ''),
      ),
    )
  }
  if (facts.length === 0) {
    return element('p', { class: 'note' }, 'No forecast, buoy or tide harbour is near enough to this place.')
  }
  return element(
    'div',
    {},
    element('dl', { class: 'facts' }, ...facts),
    metadata.forecast_updated_at === null || forecast.waves_height === null
      ? null
      : element(
          'p',
          { class: 'note' },
          `Forecast of ${dayAndTime(new Date(metadata.forecast_updated_at), zone)} ${zone.label}.`,
        ),
  )
}

const METRIC_LABELS: { readonly [metric in Metric]: { label: string; unit: string; digits: number } } = {
  significient_height: { label: 'Significant height', unit: 'm', digits: 2 },
  maximum_height: { label: 'Maximum height', unit: 'm', digits: 2 },
  period: { label: 'Period', unit: 's', digits: 1 },
  peak_period: { label: 'Peak period', unit: 's', digits: 1 },
  water_temperature: { label: 'Water temperature', unit: '°C', digits: 1 },
  wind_speed: { label: 'Wind speed', unit: 'km/h', digits: 0 },
  gust_speed: { label: 'Gusts', unit: 'km/h', digits: 0 },
}

const SEASON_LABELS: { readonly [season in SeasonName]: string } = {
  year: 'Whole year',
  winter: 'Dec to Feb',
  spring: 'Mar to May',
  summer: 'Jun to Aug',
  autumn: 'Sep to Nov',
}

const entriesOf = <K extends string>(labels: { readonly [key in K]: string }): {
  value: K
  label: string
}[] => (Object.keys(labels) as K[]).map((value) => ({ value, label: labels[value] }))

function drawSeasons(scene: Scene, buoy: BuoyDetail, redraw: () => void): Drawn {
  const { metric, season } = scene.view
  const address = addresses.series(scene, buoy.slug)
  const answer = scene.answers.get<SeriesData>(address)
  const module = chartsModule(redraw)
  const years = answer.state === 'here' ? answer.data.years.filter((each) => each.point_count > 0) : []
  const newest = years.toReversed()
  const year = newest.find((each) => each.year === scene.view.year)?.year ?? newest[0]?.year ?? null
  const others = newest.filter((each) => each.year !== year)
  const against = (others.find((each) => each.year === scene.view.against) ?? others[0])?.year ?? null
  const plot = element('div', { class: 'plot' })
  const look = METRIC_LABELS[metric]
  const nameOf = (each: SeriesYear): string => seasonName(each, season)
  const yearOptions = (list: readonly SeriesYear[]): { value: number; label: string }[] =>
    list.map((each) => ({ value: each.year, label: nameOf(each) }))
  return {
    title: buoy.name,
    nodes: [
      element(
        'div',
        { class: 'selects' },
        select('Measure', entriesOf(METRIC_NAMES), metric, (value) => scene.update({ metric: value })),
        select('Season', entriesOf(SEASON_LABELS), season, (value) => scene.update({ season: value })),
        year === null
          ? null
          : select('Year', yearOptions(newest), year, (value) => scene.update({ year: value })),
        against === null
          ? null
          : select('Compared with', yearOptions(others), against, (value) =>
              scene.update({ against: value }),
            ),
      ),
      instead(answer, 'the seasons') ?? (module === null ? waiting('the chart') : null),
      answer.state === 'here' && year === null
        ? element('p', { class: 'note' }, 'No readings in this season of the last ten years.')
        : null,
      year === null
        ? null
        : element(
            'figure',
            {
              role: 'group',
              'aria-label': `${look.label} in ${year}${against === null ? '' : ` beside ${against}`}. A summary follows.`,
            },
            plot,
          ),
      year === null ? null : seasonSummary(years, year, against, look, season),
      curlBox(scene, [{ label: 'This season over the years', address }]),
    ],
    ...(year !== null && module !== null
      ? {
          afterwards: () => {
            const drawing = module.drawSeason(plot, years, { year, against }, look, nameOf)
            return () => drawing.destroy()
          },
        }
      : {}),
  }
}

const METRIC_NAMES = Object.fromEntries(
  Object.entries(METRIC_LABELS).map(([metric, { label }]) => [metric, label]),
) as { [metric in Metric]: string }

/** A winter belongs to the year in which it begins. */
function seasonName({ year, complete }: Pick<SeriesYear, 'year' | 'complete'>, season: SeasonName): string {
  const name = season === 'winter' ? `${year}/${String((year + 1) % 100).padStart(2, '0')}` : String(year)
  return complete ? name : `${name} so far`
}

/**
 * Means over the parts of the season that both years have: half a year beside a whole one would compare
 * summer with winter.
 */
function seasonSummary(
  years: readonly SeriesYear[],
  year: number,
  against: number | null,
  { unit, digits }: { unit: string; digits: number },
  season: SeasonName,
): HTMLElement | null {
  const valuesOf = (wanted: number): Map<number, number> =>
    new Map(
      (years.find((each) => each.year === wanted)?.points ?? []).flatMap(({ bucket_index: at, value }) =>
        value === null ? [] : [[at, value] as const],
      ),
    )
  const mine = valuesOf(year)
  if (against === null) return null
  const theirs = valuesOf(against)
  const both = [...mine.keys()].filter((at) => theirs.has(at))
  if (both.length === 0)
    return element('p', { class: 'note' }, `${year} and ${against} have no days in common.`)
  const mean = (values: Map<number, number>): number =>
    both.reduce((sum, at) => sum + (values.get(at) ?? 0), 0) / both.length
  const name = (of: number): string => seasonName({ year: of, complete: true }, season)
  const [own, other] = [mean(mine), mean(theirs)]
  const difference = own - other
  const sign = difference < 0 ? '−' : '+'
  return element(
    'p',
    { class: 'summary' },
    `Over the same part of the season: ${own.toFixed(digits)} ${unit} in ${name(year)}, ${other.toFixed(digits)} ${unit} in ${name(against)} (${sign}${Math.abs(difference).toFixed(digits)} ${unit}).`,
  )
}

export function drawPoint(scene: Scene, point: { lat: number; lng: number }): Drawn {
  const address = addresses.conditions(scene, point)
  const answer = scene.answers.get<Conditions>(address)
  const title = `Sea at ${place(point.lat, point.lng)}`
  const body =
    answer.state === 'here'
      ? conditionsOf(scene, answer.data, chosenZone(scene, answer.data.location.timezone), true)
      : instead(answer, 'the conditions')
  return {
    title,
    nodes: [
      back(scene),
      element('h2', { tabindex: -1 }, title),
      element('p', { class: 'sub' }, 'Conditions now'),
      zoneSwitch(scene, 'Local'),
      body,
      curlBox(scene, [{ label: 'These conditions', address }]),
    ],
  }
}
