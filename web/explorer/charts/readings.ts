/** Measured and forecast values of a buoy over some time: heights, and all else below them. */
import type UPlot from 'uplot'
import { bucketName, calendarDay, clockTime, dayTimeAndZone, directionText, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import { KM_PER_NAUTICAL_MILE, type Scale, scaledText, type Scales, valueText } from '../mine/units.ts'
import { now } from '../store.ts'
import { variable } from '../theme.ts'
import { ARROW, fromZero, intervalOf, nearestIndex, type Range, wholeOf, windBarb } from './geometry.ts'
import { drawTogether, type Memory } from './group.ts'
import { has, joined, type Part, type Values } from './parts.ts'
import { type Line, type Plot, type Shared } from './plot.ts'

/** Longest pause that a line bridges, at least, and in intervals of its own values: some come once a day. */
const LONGEST_PAUSE = { seconds: 3 * 3600, intervals: 2.5 } as const
/** The chart of a buoy that has been silent for this many times its days does not go on to now. */
const MOST_SILENCE = 10
/** The range of a single reading. */
const LEAST_RANGE_S = 3 * 3600
const DAY_S = 86_400

/** Ticks by length of step: months, days of the week with the month where it changes, and 24-hour clocks. */
const TIMES: (string | number | null)[][] = [
  [28 * DAY_S, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [DAY_S, '{WWW}\n{D}', '\n{MMM}', '\n{MMM}', null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{WWW} {D}\n{MMM}', '\n{WWW} {D}\n{MMM}', '\n{WWW} {D}', null, null, null, 1],
]

type Limits = (plot: UPlot, low: number | null, high: number | null) => [number, number]

interface ReadingsView {
  parts: readonly Part[]
  zone: Zone
  scaleOf: Scales
  isSouth: boolean
  /** The name of a second buoy; its values have names that begin with `beside_`. */
  beside: string | null
  /** Whether the chart goes on to the line of now, which moves. */
  isToNow: boolean
  /** The bucket of the readings, and a bucket's name by its middle (ISO 8601). */
  buckets?: { readonly bucket: '1d' | '1mo'; readonly middles: ReadonlySet<string> } | null
  onSelect?: (range: Range) => void
}

/** Draws a plot for each quantity that has values into `place`. One cursor runs through all. */
export function drawReadings(place: HTMLElement, view: ReadingsView, memory: Memory): () => void {
  const { parts, zone, scaleOf, onSelect } = view
  // An empty part at the end of the axis.
  const { x: own } = joined(parts)
  const [oldest = 0, last = 0] = [own[0], own.at(-1)]
  const end = Math.ceil(now.peek() / 3_600_000) * 3600
  const isLater = view.isToNow && end > last && end - last <= MOST_SILENCE * Math.max(DAY_S, last - oldest)
  const rest = isLater ? [{ time: [new Date(end * 1000).toISOString()], values: {} }] : []
  const { x, column } = joined([...parts, ...rest])
  const textOfTurn = (i: number): string => clockTime(new Date((x[i] ?? 0) * 1000), zone)
  const plots = plotsOf(column, scaleOf, view, textOfTurn)
    .map((plot) => ({ ...plot, lines: plot.lines.filter(hasValues).map(withoutLost) }))
    .filter(({ lines }) => lines.length > 0)
  const shared: Shared = {
    x,
    range: wholeOf(x, LEAST_RANGE_S),
    onSelect,
    zone: zone.name,
    times: timesOf(x, zone),
    timesPixels: 56,
    now: () => now.peek() / 1000,
    textOfX: (at) => textOfTime(new Date(at * 1000), view),
    longestPauseOf: (values) =>
      Math.max(LONGEST_PAUSE.seconds, LONGEST_PAUSE.intervals * intervalOf(x, values)),
    axis: { pixels: 0 },
  }
  const newest = column('significant_height').findLastIndex(has)
  return drawTogether(place, plots, shared, {
    memory,
    label: texts.chart.timeInChart,
    first: newest === -1 ? nearestIndex(x, now.peek() / 1000) : newest,
  })
}

/** The ticks of a time axis: old data have their year beside the first month, too. */
function timesOf(x: readonly number[], zone: Zone): UPlot.Axis.Values {
  const yearOf = (ms: number): string => calendarDay(new Date(ms), zone).slice(0, 4)
  const isOld = yearOf((x.at(-1) ?? 0) * 1000) !== yearOf(now.peek())
  if (!isOld) return TIMES
  return TIMES.map((row) => row.map((cell, i) => (i === 2 && cell !== '\n{YYYY}' ? `${cell} {YYYY}` : cell)))
}

/** A moment, or the bucket that is drawn there. */
function textOfTime(time: Date, { zone, buckets = null }: ReadingsView): string {
  if (buckets === null || !buckets.middles.has(time.toISOString()))
    return dayTimeAndZone(time, zone, now.peek())
  const { bucket } = buckets
  const isNow = bucketName(time, bucket, zone, 0) === bucketName(new Date(now.peek()), bucket, zone, 0)
  const name = bucketName(time, bucket, zone, now.peek())
  return (isNow ? texts.chart.meanSoFar : texts.chart.meanOf)[bucket](name)
}

const hasValues = ({ values }: Line): boolean => values.some(has)

/** Directions without the line that they are of have an entry of their own. */
function withoutLost(line: Line, _i: number, lines: readonly Line[]): Line {
  const { of, ...alone } = line
  return of === undefined || lines.some(({ label }) => label === of) ? line : alone
}

/** The plots from top to bottom, with lines that may have no values. */
function plotsOf(
  column: (name: string) => Values,
  scaleOf: Scales,
  { isSouth, beside, buckets = null }: ReadingsView,
  textOfTurn: (index: number) => string,
): Plot[] {
  const line = (label: string, name: string, color: number, more: Partial<Line> = {}): Line => ({
    label,
    values: column(name),
    color: variable(`--chart-${color}`),
    ...more,
  })
  const thin = { width: 1 }
  const forecast = { dash: [6, 4] }
  const forecastSwell = { width: 1.5, dash: [2, 5] }
  const other = (name: string): Line => line(beside ?? '', `beside_${name}`, 6, { dash: [10, 2] })
  // Without colours dots and dashes distinguish the parts of the sea.
  const [swell, windSea] = [
    { width: 1.5, dash: [2, 3] },
    { width: 1.5, dash: [8, 3, 2, 3] },
  ]
  const signs = { width: 1.5, textOf: directionText }
  const arrows = { ...signs, sign: () => new Path2D(ARROW) }
  const barbs = (speeds: Values): Partial<Line> => ({
    ...signs,
    row: 'wind',
    sign: (i) => new Path2D(windBarb((speeds[i] ?? 0) / KM_PER_NAUTICAL_MILE, isSouth)),
  })
  // A tenth up and down is not an event.
  const atLeast =
    (span: number, share = 0): Limits =>
    (_plot, low, high) => {
      const own = (high ?? 0) - (low ?? 0)
      const missing = Math.max(own * share, (span - own) / 2)
      return [(low ?? 0) - missing, (high ?? 0) + missing]
    }
  const [height, speed] = [scaleOf('height'), scaleOf('speed')]
  const [wind, forecastWind] = [column('wind_speed'), column('forecast_wind_speed')]
  // A barb needs both.
  const where = (speeds: Values, name: string): Values =>
    column(name).map((value, i) => (speeds[i] === null ? null : value))
  const windFrom = where(wind, 'wind_direction')
  // Measured times have no forecast.
  const after = (measured: Values, ahead: Values): Values => {
    const last = measured.findLastIndex(has)
    return ahead.map((value, i) => (i > last ? value : null))
  }
  const { lines: names, plots: titles } = texts.chart
  // A long range has the band of its own readings, a short one that of the time of the year.
  const band =
    buckets === null
      ? bandLines(names.usual, column('usual_low'), column('usual_high'), height)
      : bandLines(names.range, column('least_height'), column('greatest_height'), height)
  // A long range shows only the heights at first: four crossing lines say nothing.
  const isOff = buckets !== null && band.length > 0
  const [period, peak] = [column('period'), column('peak_period')]
  // A network with one column of periods has it under both names.
  const isPeak = period.every((value, i) => value === peak[i])
  return [
    {
      name: titles.heights,
      scale: height,
      size: 'tall',
      range: fromZero(height.from(0.1)),
      ...(band.length > 0 && {
        bands: [{ series: [2, 1] as [number, number], fill: variable('--chart-band') }],
      }),
      lines: [
        ...band,
        line(names.usualMedian, 'usual_median', 2, { width: 1.5 }),
        line(
          names.significant,
          'significant_height',
          1,
          band.length > 0 ? {} : { fill: variable('--chart-band') },
        ),
        line(names.maximum, 'maximum_height', 2, thin),
        other('significant_height'),
        line(names.forecast, 'forecast_wave_height', 3, forecast),
        line(names.forecastSwell, 'forecast_swell_height', 4, forecastSwell),
        line(names.swell, 'swell_height', 4, { ...swell, isOff }),
        line(names.windSea, 'wind_wave_height', 5, { ...windSea, isOff }),
        line(names.wavesFrom, 'direction', 1, { ...arrows, of: names.significant }),
        line(names.forecastFrom, 'forecast_wave_direction', 3, {
          ...arrows,
          of: names.forecast,
          row: names.wavesFrom,
          values: after(column('direction'), column('forecast_wave_direction')),
        }),
        line(names.swellFrom, 'swell_direction', 4, { ...arrows, of: names.swell }),
        line(names.forecastSwellFrom, 'forecast_swell_direction', 4, {
          ...arrows,
          of: names.forecastSwell,
          row: names.swellFrom,
          values: after(column('swell_direction'), column('forecast_swell_direction')),
        }),
        line(names.windSeaFrom, 'wind_wave_direction', 5, { ...arrows, of: names.windSea }),
        // Nor are their directions, which would take up rows.
      ].filter(({ of }) => !isOff || (of !== names.swell && of !== names.windSea)),
    },
    {
      name: titles.periods,
      scale: scaleOf('period'),
      size: 'short',
      range: fromZero(6),
      lines: [
        ...(isPeak ? [] : [line(names.period, 'period', 1)]),
        line(names.peak, 'peak_period', isPeak ? 1 : 2, isPeak ? {} : thin),
        other('period'),
        line(names.forecast, 'forecast_wave_period', 3, forecast),
        line(names.forecastSwell, 'forecast_swell_period', 4, forecastSwell),
        line(names.swell, 'swell_period', 4, { ...swell, isOff }),
        line(names.windSea, 'wind_wave_period', 5, { ...windSea, isOff }),
      ],
    },
    {
      name: titles.wind,
      scale: speed,
      size: 'short',
      range: fromZero(speed.from(1)),
      lines: [
        line(names.wind, 'wind_speed', 1),
        line(names.gusts, 'gust_speed', 2, thin),
        other('wind_speed'),
        line(names.forecast, 'forecast_wind_speed', 3, forecast),
        line(names.windFrom, 'wind_direction', 1, { ...barbs(wind), of: names.wind, values: windFrom }),
        line(names.forecastFrom, 'forecast_wind_direction', 3, {
          ...barbs(forecastWind),
          of: names.forecast,
          values: after(windFrom, where(forecastWind, 'forecast_wind_direction')),
        }),
      ],
    },
    {
      name: titles.water,
      scale: scaleOf('temperature'),
      size: 'short',
      range: atLeast(4),
      lines: [line(names.water, 'water_temperature', 1), other('water_temperature')],
    },
    {
      name: titles.air,
      scale: scaleOf('temperature'),
      size: 'short',
      range: atLeast(4),
      lines: [line(names.air, 'air_temperature', 1), other('air_temperature')],
    },
    {
      name: titles.pressure,
      scale: scaleOf('pressure'),
      size: 'short',
      range: atLeast(10),
      lines: [line(names.pressure, 'pressure', 1), other('pressure')],
    },
    {
      name: titles.tide,
      scale: height,
      size: 'short',
      // The times of high and low water are above and below the line.
      range: atLeast(1, 0.3),
      lines: [line(names.tide, 'tide_level', 5), line(names.turns, 'tide_turn', 5, { dotText: textOfTurn })],
    },
  ]
}

/** The edges of a band; none without values. */
function bandLines(label: string, low: Values, high: Values, scale: Scale): Line[] {
  if (!low.some(has) || !high.some(has)) return []
  const edge = { color: 'transparent', width: 0 }
  return [
    { ...edge, label: '', values: low, class: 'behind', textOf: () => '' },
    {
      ...edge,
      label,
      values: high,
      mark: variable('--chart-band'),
      textOf: (value, i) => `${valueText(scale, low[i] ?? 0)}–${scaledText(scale, value)}`,
    },
  ]
}

/** Loaded with the readings, when the first chart is needed. */
export { drawSeason } from './season.ts'
