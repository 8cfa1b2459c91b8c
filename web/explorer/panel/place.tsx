/** The panel of a place: its days ahead as a chart and as facts, and the nearest buoys. */
import type { PlaceForecast } from '../../../clients/typescript/groundswell.ts'
import { partsOfForecast } from '../charts/parts.ts'
import { Plots } from '../charts/plots.tsx'
import { Invitation } from '../dialogs.tsx'
import { chosenZone, dayAndTime } from '../format.ts'
import { texts } from '../language.ts'
import { type Quantity, scaleOf } from '../mine/units.ts'
import type { SubjectOf } from '../page.ts'
import { Instead, Note, ZoneSwitch } from '../pieces.tsx'
import { api, clock, page, recently, units } from '../store.ts'
import { Ahead, hasForecast, hasTide } from './ahead.tsx'
import { Downloads } from './downloads.tsx'
import { BuoyRow, MOST_KM, nearestOf } from './list.tsx'
import { SignsNote } from './now.tsx'
import { type Column, PartTable } from './table.tsx'

const AHEAD: readonly Column[] = [
  ['forecast_wave_height', 'height'],
  ['forecast_wave_period', 'period'],
  ['forecast_wave_direction', 'direction'],
  ['forecast_swell_height', 'height'],
  ['forecast_swell_period', 'period'],
  ['forecast_swell_direction', 'direction'],
  ['forecast_wind_speed', 'speed'],
  ['forecast_wind_direction', 'direction'],
  ['tide_level', 'height'],
]

export function PlacePanel({ point, forecast }: SubjectOf<'point'>) {
  const { buoys } = page.value
  const near = nearestOf(point)
  return (
    <>
      {forecast === null ? null : <Instead of={forecast.answer} what="forecast" />}
      {forecast?.answer.state === 'here' ? <Days forecast={forecast.answer.data} /> : null}
      <h3>{texts.list.nearest}</h3>
      <Instead of={buoys} what="nearest" />
      {near.length === 0 && buoys.state === 'here' ? (
        <Note>{texts.list.noneWithin(MOST_KM, recently.value)}</Note>
      ) : null}
      <ul class="buoys">
        {near.map(({ buoy, km }) => (
          <BuoyRow key={buoy.slug} buoy={buoy} start="near" where={texts.list.away(Math.round(km))} />
        ))}
      </ul>
      <Downloads />
      {api.isGuest ? <Invitation text={texts.ahead.needKey} /> : null}
    </>
  )
}

function Days({ forecast }: { forecast: PlaceForecast }) {
  const zone = chosenZone(page.value.view.zone, forecast.location.timezone)
  const scales = (quantity: Quantity) => scaleOf(quantity, units.value)
  const parts = partsOfForecast(forecast)
  const view = {
    parts,
    zone,
    scaleOf: scales,
    isSouth: forecast.location.lat < 0,
    beside: null,
    isToNow: true,
  }
  // An empty chart would say nothing.
  if (!hasForecast(forecast) && !hasTide(forecast)) return <Ahead forecast={forecast} zone={zone} />
  return (
    <Ahead forecast={forecast} zone={zone}>
      <section aria-label={texts.chart.ahead}>
        <Plots
          about="ahead"
          label={texts.chart.aheadLabel}
          draw={(charts, place, memory) => charts.drawReadings(place, view, memory)}
          on={[forecast, zone.name, units.value]}
        />
        <SignsNote />
        <PartTable
          title={texts.chart.hours}
          part={parts[0]!}
          columns={AHEAD}
          {...{ zone, scales }}
          timeText={(time) => dayAndTime(time, zone, clock())}
          isReversed={false}
        />
      </section>
      <ZoneSwitch here={texts.panel.local} />
    </Ahead>
  )
}
