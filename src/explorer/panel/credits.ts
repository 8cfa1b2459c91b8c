/** Who measured what the panel shows, with the way to the station's own page. */
import type { BuoyDetail } from '../../../clients/typescript/groundswell.ts'
import { element } from '../dom.ts'
import { ownerOf, stationPage } from '../stations.ts'

/** The line below readings. Of a demo only names and positions are real, and the line says so. */
export function readingsCredit(
  { source, source_identifier: identifier }: Pick<BuoyDetail, 'source' | 'source_identifier'>,
  isDemo: boolean,
): HTMLElement {
  const owner = ownerOf(source)
  const page = stationPage(source, identifier)
  return element(
    'p',
    { class: 'note credit' },
    isDemo ? `Made-up readings. Name and position: ${owner}` : `Readings: ${owner}`,
    ...(page === null
      ? ['.']
      : [
          ' · ',
          element('a', { href: page, rel: 'noopener noreferrer', target: '_blank' }, `Station ${identifier}`),
        ]),
  )
}
