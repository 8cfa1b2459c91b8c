/** Who measured and forecast what the panel shows, with the way to the station's own page. */
import type { BuoyDetail, Conditions } from '../../../clients/typescript/groundswell.ts'
import { ownerOf, stationPage } from '../addresses.ts'
import { dayTimeAndZone, type Zone } from '../format.ts'
import { External } from '../pieces.tsx'
import { api } from '../store.ts'

/** An address within a line. What closes a sentence or a bracket is not part of it. */
const ADDRESS = /(https:\/\/[^\s<>"]*[^\s<>".,;:!?()])/

/** Who measured. Only names and positions of a demo are real. */
function ownerText(source: string): string {
  const owner = ownerOf(source)
  return api.isDemo.value === true ? `Made-up readings. Name and position: ${owner}` : `Readings: ${owner}`
}

/** The operator's terms; of made-up readings the page itself states what they are. */
const termsOf = ({ credit, licence }: BuoyDetail): string[] =>
  api.isDemo.value === true ? [] : [credit, licence].flatMap((text) => (text ? [text] : []))

/** Who measured, and what the server's operator has to say of it, as one line of text. */
export function creditText(buoy: BuoyDetail): string {
  return [ownerText(buoy.source), ...termsOf(buoy)].join(' · ')
}

/** The line below readings. */
export function ReadingsCredit({ buoy }: { buoy: BuoyDetail }) {
  const { source, source_identifier: identifier } = buoy
  const station = stationPage(source, identifier)
  return (
    <p class="note credit">
      {ownerText(source)}
      {station === null ? null : (
        <>
          {' · '}
          <External href={station} text={`Station ${identifier}`} />
        </>
      )}
      {termsOf(buoy).map((text) => (
        <>
          {' · '}
          <Linked text={text} />
        </>
      ))}
    </p>
  )
}

/** A forecast's model, its run, and its owner's line; '' where there is no run. */
export function forecastText(
  { forecast_updated_at: run, forecast_model: model, forecast_credit: credit }: Conditions['metadata'],
  zone: Zone,
): string {
  if (run === null) return ''
  const made = api.isDemo.value === true ? 'Made-up forecast' : 'Forecast'
  const of = `${model ? `${model}, ` : ''}run of ${dayTimeAndZone(new Date(run), zone)}`
  return [`${made}: ${of}`, credit].filter(Boolean).join(' · ')
}

/** The line below a forecast. */
export function ForecastCredit({ metadata, zone }: { metadata: Conditions['metadata']; zone: Zone }) {
  return (
    <p class="note credit">
      <Linked text={forecastText(metadata, zone)} />
    </p>
  )
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
