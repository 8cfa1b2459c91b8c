/** Credits for the panel's measurements and forecasts, with a link to the station's own page. */
import type { BuoyDetail, PlaceForecast } from '../../../clients/typescript/groundswell.ts'
import { ownerOf, stationPage } from '../addresses.ts'
import { dayTimeAndZone, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import { External } from '../pieces.tsx'
import { api, clock } from '../store.ts'

/** An address within a line, unless it was cut. What closes a sentence or a bracket is not part of it. */
const ADDRESS = /(https:\/\/[^\s<>"…]*[^\s<>".,;:!?()…])(?![^\s<>"…]*…)/

/**
 * The credit for measurements, and the operator's terms. A demo has only real names and positions, and the
 * terms do not apply to made-up readings.
 */
function creditText({ source, credit, licence }: BuoyDetail): string {
  const owner = ownerOf(source)
  if (api.isDemo.value === true) return texts.buoy.madeUp(owner)
  // Most credits name the owner, in full or in part.
  const [short, long] = [owner, credit ?? ''].toSorted((a, b) => a.length - b.length)
  const isTwice = long!.toLowerCase().includes(short!.toLowerCase())
  const measured = texts.buoy.credit(isTwice ? long! : owner)
  return [measured, isTwice ? null : credit, licence].filter(Boolean).join(' · ')
}

/** The line below readings, with the way to the station's own page. */
export function ReadingsCredit({ buoy }: { buoy: BuoyDetail }) {
  const { source, source_identifier: identifier } = buoy
  const station = stationPage(source, identifier)
  return (
    <p class="note credit">
      <Linked text={creditText(buoy)} />
      {station === null ? null : ' · '}
      {station === null ? null : <External href={station} text={texts.buoy.station(identifier)} />}
    </p>
  )
}

/** A forecast's model, its run, and its owner's line; '' where there is no run. */
export function forecastText(
  { forecast_updated_at: run, forecast_model: model, forecast_credit: credit }: PlaceForecast['metadata'],
  zone: Zone,
): string {
  if (run === null) return ''
  const at = texts.ahead.run(dayTimeAndZone(new Date(run), zone, clock()))
  const of = [model, at].filter(Boolean).join(', ')
  const made = api.isDemo.value === true ? texts.ahead.madeUp(of) : texts.ahead.credit(of)
  return [made, credit].filter(Boolean).join(' · ')
}

/** A text with its addresses as links. */
export function Linked({ text }: { text: string }) {
  return (
    <>
      {text
        .split(ADDRESS)
        .map((piece, i) =>
          i % 2 === 0 ? piece : <External key={i} href={piece} text={piece.replace(/^https:\/\//, '')} />,
        )}
    </>
  )
}
