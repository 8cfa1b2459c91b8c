/** Who measured and forecast what the panel shows, with the way to the station's own page. */
import type { BuoyDetail, Conditions } from '../../../clients/typescript/groundswell.ts'
import { ownerOf, stationPage } from '../addresses.ts'
import { dayAndTime, type Zone } from '../format.ts'
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

/** The line below a forecast: its model, its run, and its owner's line. */
export function ForecastCredit({ metadata, zone }: { metadata: Conditions['metadata']; zone: Zone }) {
  const { forecast_updated_at: run, forecast_model: model, forecast_credit: credit } = metadata
  if (run === null) return null
  return (
    <p class="note credit">
      {api.isDemo.value === true ? 'Made-up forecast' : 'Forecast'}: {model ? `${model}, ` : ''}
      run of {dayAndTime(new Date(run), zone)} {zone.label}
      {credit ? ' · ' : '.'}
      {credit ? <Linked text={credit} /> : null}
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
