/** The newest reading of a buoy. */
import type { BuoyDetail, ReadingSummary } from '../../../clients/typescript/groundswell.ts'
import { changeOf, has, type Part, pressureTrend } from '../charts/parts.ts'
import { compassPoint, dayTimeAndZone, directionText, isOld, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import { decimalText, namesOf, type Quantity, scaledText, type Scales, valueText } from '../mine/units.ts'
import { Ago, Arrow, Chip, Fact, turnOf, usualText } from '../pieces.tsx'
import { api, now as nowOf, scalesOf } from '../store.ts'
import { METRICS } from '../view.ts'
import type { Column } from './table.tsx'

type Read = Pick<BuoyDetail, 'source' | 'last_reading'> & Partial<Pick<BuoyDetail, 'available' | 'usual'>>

/** The newest reading: how high, from where, how long between, whether it rises, and how old it is. */
export function Latest({ buoy, zone, recent = null }: { buoy: Read; zone: Zone; recent?: Part | null }) {
  const { last_reading: reading, available, usual } = buoy
  if (reading === null) return <p class="trouble box">{withoutReading(available)}</p>
  const { significient_height: height, time, direction: from, peak_period: peak, period } = reading
  const scales = scalesOf.value(buoy)
  const change = recent && changeOf(recent)
  const turn = change && turnOf(...change)
  const isNow = !isOld(Date.parse(time), nowOf.value)
  return (
    <div class="latest">
      <p class="hero row wraps">
        <Chip height={height} />
        <span>
          <strong>{valueText(scales('height'), height)}</strong> {scales('height').unit}
        </span>
        {has(from) ? (
          <span class="row">
            <Arrow from={from} />
            {texts.buoy.from(compassPoint(from))}
          </span>
        ) : null}
        {has(peak) ? <span>{texts.buoy.peak(scaledText(scales('period'), peak))}</span> : null}
        {!has(peak) && has(period) ? <span>{scaledText(scales('period'), period)}</span> : null}
        {turn && isNow ? <span>{texts.buoy[turn]}</span> : null}
        <Ago time={time} />
      </p>
      {usual ? <p class="usual">{usualText(height, time, scales('height'), usual)}</p> : null}
      <p class="age">
        {[
          texts.buoy.significantHeight,
          dayTimeAndZone(new Date(time), zone, nowOf.value),
          turn && turn !== 'steady' && texts.buoy.changed[turn](differenceText(scales, change)),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <Parts reading={reading} scales={scales} />
      <Tiles reading={reading} scales={scales} trend={recent && pressureTrend(recent, reading)} />
    </div>
  )
}

/** A difference of two heights has the decimals of heights, not those that its bits have. */
function differenceText(scales: Scales, [before, newest]: readonly [number, number]): string {
  const { from, digits, unit } = scales('height')
  return `${decimalText(from(Math.abs(newest - before)), digits)} ${unit}`
}

/** A reading has a height of the waves; a station without one may measure the wind or the water. */
function withoutReading(available: BuoyDetail['available']): string {
  if (api.isGuest) return texts.buoy.noPublic
  const others = namesOf(METRICS)
    .filter((metric) => Object.hasOwn(available ?? {}, metric))
    .map((metric) => texts.metrics[metric].toLowerCase())
  return others.length === 0 ? texts.buoy.noReadings : texts.buoy.noWaves(others.join(', '))
}

/** Measures other than the significant height, in the order of tiles and of the table. */
const MEASURES = [
  ['maximum_height', 'height'],
  ['period', 'period'],
  ['peak_period', 'period'],
  ['direction', 'direction'],
  ['wind_speed', 'speed'],
  ['gust_speed', 'speed'],
  ['wind_direction', 'direction'],
  ['water_temperature', 'temperature'],
  ['air_temperature', 'temperature'],
  ['pressure', 'pressure'],
  ['visibility', 'visibility'],
  ['swell_height', 'height'],
  ['swell_period', 'period'],
  ['swell_direction', 'direction'],
  ['wind_wave_height', 'height'],
  ['wind_wave_period', 'period'],
  ['wind_wave_direction', 'direction'],
] as const satisfies readonly Column[]
/** The columns of the table of readings. */
export const READ: readonly Column[] = [
  ['significant_height', 'height'],
  ['least_height', 'height'],
  ['greatest_height', 'height'],
  ...MEASURES,
]
const isPart = (name: string): boolean => name.startsWith('swell') || name.startsWith('wind_wave')

/** Measures of the first line have no tile, and one column for peak and period needs no second one. */
function isTile(name: (typeof MEASURES)[number][0], reading: ReadingSummary): boolean {
  if (isPart(name) || !has(reading[name]) || name === 'peak_period') return false
  return name !== 'period' || (has(reading.peak_period) && reading.period !== reading.peak_period)
}

/** A tile for each further measure of a reading. */
function Tiles({
  reading,
  scales,
  trend,
}: {
  reading: ReadingSummary
  scales: Scales
  trend: number | null
}) {
  const tiles = MEASURES.filter(([name]) => isTile(name, reading))
  if (tiles.length === 0) return null
  return (
    <dl class="figures box">
      {tiles.map(([name, quantity]) => {
        const value = reading[name] ?? 0
        return (
          <Fact label={texts.measures[name]} key={name}>
            {tileText(name, quantity, value, scales)}
            {name === 'pressure' && has(trend) ? ` (${trendText(trend, scales)})` : null}
          </Fact>
        )
      })}
    </dl>
  )
}

/** The end of the scale of a buoy's sensor, 1.6 nautical miles, in km. */
const FARTHEST_SEEN_KM = 2.96

function tileText(name: string, quantity: Quantity, value: number, scales: Scales): string {
  if (quantity === 'direction') return directionText(value)
  if (name === 'visibility' && value === FARTHEST_SEEN_KM) return texts.buoy.atLeast('3 km')
  return scaledText(scales(quantity), value)
}

/** The least change that is not rounded to 0.0. */
const LEAST_TREND_HPA = 0.05

/** A difference has one decimal, not those that its bits have. */
const trendText = (trend: number, scales: Scales): string =>
  texts.buoy.inThreeHours(
    `${trend >= LEAST_TREND_HPA ? '+' : ''}${decimalText(trend, 1)} ${scales('pressure').unit}`,
  )

/** Swell and wind sea, of which the significant height is made, where the buoy separates them. */
function Parts({ reading, scales }: { reading: ReadingSummary; scales: Scales }) {
  return (['swell', 'wind_wave'] as const).map((part) => {
    const height = reading[`${part}_height`]
    const [period, from] = [reading[`${part}_period`], reading[`${part}_direction`]]
    return has(height) ? (
      <p class="part row" key={part}>
        {part === 'swell' ? texts.buoy.swell : texts.buoy.windSea}
        <b>{scaledText(scales('height'), height)}</b>
        {has(period) ? scaledText(scales('period'), period) : null}
        {has(from) ? ` ${texts.buoy.from(directionText(from))}` : null}
      </p>
    ) : null
  })
}
