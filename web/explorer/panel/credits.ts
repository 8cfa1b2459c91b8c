/** Who measured and forecast what the panel shows, with the way to the station's own page. */
import type { BuoyDetail, Conditions } from '../../../clients/typescript/groundswell.ts'
import { ownerOf, stationPage } from '../addresses.ts'
import { element } from '../dom.ts'
import { dayAndTime, type Zone } from '../format.ts'

/** An address within a line. What closes a sentence or a bracket is not part of it. */
const ADDRESS = /(https:\/\/[^\s<>"]*[^\s<>".,;:!?()])/

const NEW_PAGE = { rel: 'noopener noreferrer', target: '_blank' }

/** Who measured, and what the server's operator has to say of it, as one line of text. */
export function creditText({ source, credit, licence }: BuoyDetail, isDemo: boolean): string {
  return [ownerText(source, isDemo), ...(isDemo ? [] : [credit, licence])].filter(Boolean).join(' · ')
}

function ownerText(source: string, isDemo: boolean): string {
  const owner = ownerOf(source)
  return isDemo ? `Made-up readings. Name and position: ${owner}` : `Readings: ${owner}`
}

/** The line below readings. It states that only names and positions of a demo are real. */
export function readingsCredit(
  { source, source_identifier: identifier, credit, licence }: BuoyDetail,
  isDemo: boolean,
): HTMLElement {
  const page = stationPage(source, identifier)
  // These are the operator's terms. For made-up readings the page itself states what they are.
  const terms = isDemo ? [] : [credit, licence].flatMap((text) => (text ? [' · ', ...linked(text)] : []))
  return element(
    'p',
    { class: 'note credit' },
    ownerText(source, isDemo),
    ...(page === null ? [] : [' · ', element('a', { href: page, ...NEW_PAGE }, `Station ${identifier}`)]),
    ...terms,
  )
}

/** The line below a forecast: its model, its run, and its owner's line. */
export function forecastCredit(
  { forecast_model: model, forecast_credit: credit }: Conditions['metadata'],
  run: string,
  zone: Zone,
  isDemo: boolean,
): HTMLElement {
  return element(
    'p',
    { class: 'note credit' },
    `${isDemo ? 'Made-up forecast' : 'Forecast'}: ${model ? `${model}, ` : ''}run of ${dayAndTime(new Date(run), zone)} ${zone.label}`,
    ...(credit ? [' · ', ...linked(credit)] : ['.']),
  )
}

/** A text with its addresses as links. */
export function linked(text: string): (string | HTMLElement)[] {
  return text
    .split(ADDRESS)
    .map((piece, i) =>
      i % 2 === 0 ? piece : element('a', { href: piece, ...NEW_PAGE }, piece.replace(/^https:\/\//, '')),
    )
}
