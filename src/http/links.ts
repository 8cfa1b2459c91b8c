/** `Link` headers of lists (RFC 8288), pinned to a snapshot: whoever follows them gets every item once. */
import type { Paging } from '../operation/answer-table.ts'
import { encoded } from '../operation/query.ts'

/** In declared paths. */
const ARGUMENT = /\{\w+\}/

/** Characters of one page's path and query where there are four: some proxies take 4 KB of headers. */
const LONGEST_TARGET = 600
/** Where `next` stands alone. Without it whoever follows links would take one page for the whole list. */
const LONGEST_NEXT = 4 * LONGEST_TARGET
/** More than four header lines. */
export const MOST_LINK_BYTES = 4 * (LONGEST_TARGET + 64) + 128

/**
 * A header line, begun by CRLF; '' if there is no link, or its address would be too long. All arguments are
 * encoded anew.
 * @param path as declared, `/buoys/{buoy_id}/readings`, with its decoded arguments in `args`
 * @param given the other parameters: `&per_page=5`
 * @param hasAll links to all neighbours, not to the next page alone
 */
export function linkHeader(
  basePath: string,
  path: string,
  args: readonly string[],
  given: string,
  snapshot: string,
  { page, pages }: Paging,
  hasAll: boolean,
): string {
  let target = basePath + path
  for (const arg of args) target = target.replace(ARGUMENT, encoded(arg))
  const start = `${target}?snapshot=${snapshot}${given}&page=`
  if (start.length > LONGEST_NEXT) return ''
  let links = ''
  const link = (rel: string, to: number): void => {
    links += `${links === '' ? '\r\nLink: ' : ', '}<${start}${to}>; rel="${rel}"`
  }
  if (page < pages) link('next', page + 1)
  if (hasAll && start.length <= LONGEST_TARGET) {
    if (page > 1 && pages > 0) link('prev', Math.min(page - 1, pages))
    link('first', 1)
    if (pages > 0) link('last', pages)
  }
  return links
}
