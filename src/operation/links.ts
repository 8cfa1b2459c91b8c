/**
 * `Link` headers of lists (RFC 8288), pinned to a snapshot: whoever follows them gets every item once. Links
 * are queries alone, relative to the address of the request: behind a proxy that takes a prefix off, only the
 * client knows the path.
 */
import { JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import type { Paging } from '../dataset/table.ts'
import type { QueryReader, Texts } from './query.ts'
import type { Parameters } from './parameters.ts'

/** Characters of one page's query where there are four: some proxies take 4 KB of headers. */
const LONGEST_TARGET = 600
/** Characters where `next` is the only link: without it a client would take one page for the whole list. */
const LONGEST_NEXT = 4 * LONGEST_TARGET
/** More than four header lines. */
export const MOST_LINK_BYTES = 4 * (LONGEST_TARGET + 64) + 128

const LINK = new Literal('\r\nLink: <')
const ANOTHER = new Literal(', <')
const SNAPSHOT = new Literal('?snapshot=')
const PAGE = new Literal('&page=')
const [NEXT, PREVIOUS, FIRST, LAST] = ['next', 'prev', 'first', 'last'].map(
  (relation) => new Literal(`>; rel="${relation}"`),
)
/** More than a page number takes with the text around it. */
const PAGE_BYTES = 64

export const NO_LINK: Uint8Array = new Uint8Array(0)

const line = new JsonWriter(MOST_LINK_BYTES)

export interface LinkedQuery {
  readonly reader: QueryReader<Parameters>
  readonly texts: Texts
  /** More parameters, encoded, each after `&`. */
  readonly more: string
}

/**
 * A header line after a CRLF; empty without a link, or if its address would be too long. All values are
 * encoded again.
 * @param hasAll links to all neighbours, not only to the next page
 * @returns a view that the next header line overwrites
 */
export function linkHeader(
  query: LinkedQuery,
  snapshot: string,
  { page, pages }: Paging,
  hasAll: boolean,
): Uint8Array {
  if (page >= pages && !hasAll) return NO_LINK
  line.begin()
  line.literal(LINK)
  const start = line.at
  writeTarget(query, snapshot)
  const end = line.at
  if (end - start > LONGEST_NEXT) return NO_LINK
  let links = 0
  const link = (relation: Literal, to: number): void => {
    line.ensure(end - start + PAGE_BYTES)
    if (links++ > 0) {
      line.literal(ANOTHER)
      line.copy(start, end)
    }
    line.integer(to)
    line.literal(relation)
  }
  if (page < pages) link(NEXT, page + 1)
  if (hasAll && end - start <= LONGEST_TARGET) {
    if (page > 1 && pages > 0) link(PREVIOUS, Math.min(page - 1, pages))
    link(FIRST, 1)
    if (pages > 0) link(LAST, pages)
  }
  return links === 0 ? NO_LINK : line.answer()
}

/** The address of a page, but for its number. */
function writeTarget({ reader, texts, more }: LinkedQuery, snapshot: string): void {
  line.ensure(PAGE_BYTES)
  line.literal(SNAPSHOT)
  line.text(snapshot)
  reader.writeGiven(line, texts)
  line.text(more)
  line.ensure(PAGE_BYTES)
  line.literal(PAGE)
}
