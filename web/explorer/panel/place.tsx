/** The panel of a place: its days ahead as a chart and as facts, and the nearest buoys. */
import type { PlaceForecast } from '../../../clients/typescript/groundswell.ts'
import { partsOfForecast } from '../charts/parts.ts'
import { Plots } from '../charts/plots.tsx'
import { Invitation } from '../dialogs.tsx'
import { chosenZone } from '../format.ts'
import { scaleOf } from '../mine/units.ts'
import type { SubjectOf } from '../page.ts'
import { Instead, Note, ZoneSwitch } from '../pieces.tsx'
import { api, page, recently, units } from '../store.ts'
import { Ahead, hasForecast, hasTide } from './ahead.tsx'
import { Downloads } from './downloads.tsx'
import { BuoyRow, MOST_KM, nearestOf } from './list.tsx'
import { SignsNote } from './now.tsx'
import { type Column, PartTable } from './table.tsx'

const AHEAD: readonly Column[] = [
  ['forecast_wave_height', 'Waves', 'height'],
  ['forecast_wave_period', 'Period', 'period'],
  ['forecast_wave_direction', 'From', 'direction'],
  ['forecast_swell_height', 'Swell', 'height'],
  ['forecast_swell_period', 'Swell period', 'period'],
  ['forecast_swell_direction', 'Swell from', 'direction'],
  ['forecast_wind_speed', 'Wind', 'speed'],
  ['forecast_wind_direction', 'Wind from', 'direction'],
  ['tide_level', 'Tide', 'height'],
]

export function PlacePanel({ point, forecast }: SubjectOf<'point'>) {
  const { buoys } = page.value
  const near = nearestOf(point)
  return (
    <>
      {forecast === null ? null : <Instead of={forecast.answer} what="the forecast" />}
      {forecast?.answer.state === 'here' ? <Days forecast={forecast.answer.data} /> : null}
      <h3>Nearest buoys</h3>
      <Instead of={buoys} what="the nearest buoys" />
      {near.length === 0 && buoys.state === 'here' ? (
        <Note>{`No buoy within ${MOST_KM} km has reported ${recently.value}.`}</Note>
      ) : null}
      <ul class="buoys">
        {near.map(({ buoy, km }) => (
          <BuoyRow key={buoy.slug} buoy={buoy} start="near" where={`${Math.round(km)} km away`} />
        ))}
      </ul>
      <Downloads />
      {api.isGuest ? <Invitation text="Forecast and tide of this point need an API key." /> : null}
    </>
  )
}

function Days({ forecast }: { forecast: PlaceForecast }) {
  const zone = chosenZone(page.value.view.zone, forecast.location.timezone)
  const scales = (quantity: Parameters<typeof scaleOf>[0]) => scaleOf(quantity, units.value)
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
    <>
      <section aria-label="Days ahead">
        <Plots
          about="ahead"
          label="Chart of the next three days. A table follows."
          draw={(charts, place, memory) => charts.drawReadings(place, view, memory)}
          on={[forecast, zone.name, units.value]}
        />
        <SignsNote />
        <PartTable
          title="Hours as a table"
          part={parts[0]!}
          columns={AHEAD}
          {...{ zone, scales }}
          isReversed={false}
        />
      </section>
      <Ahead forecast={forecast} zone={zone} />
      <ZoneSwitch here="Local" />
    </>
  )
}
