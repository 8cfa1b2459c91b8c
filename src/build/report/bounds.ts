/** How much of one kind a report holds, whatever the sources contain. */

/** Bad lines of one file that are shown one by one; of the others only their number. */
export const BAD_LINES_SHOWN = 5
/** Characters of a faulty text that are shown. */
const TEXT_SHOWN = 40
/** Bad lines of a source in the document. */
export const BAD_LINES_KEPT = 200
/** Remarks, duplicates and identifiers in the document, of each kind. */
export const REMARKS_KEPT = 200
export const IDENTIFIERS_KEPT = 20
export const MONTHS_KEPT = 2000
/** Stations in one list or under one reason: ten times what the largest networks have. */
export const STATIONS_KEPT = 20_000
export const STATIONS_SHOWN = 12
/** Reasons are fixed texts of adapters; a slip there must not fill the memory. */
export const REASONS_KEPT = 500

/** The number of keys of each object of counts: to count them anew takes as long as they are many. */
const keysOf = new WeakMap<object, number>()

/** Adds to one of at most `mostKeys` counts; what would be one more is not counted. */
export function addBounded(
  counts: { [key: string]: number },
  key: string,
  amount: number,
  mostKeys: number = REASONS_KEPT,
): void {
  if (Object.hasOwn(counts, key)) {
    counts[key] += amount
    return
  }
  const keys = keysOf.get(counts) ?? 0
  if (keys >= mostKeys) return
  // Defined and not assigned: `__proto__` is a key like any other.
  Object.defineProperty(counts, key, { value: amount, enumerable: true, writable: true, configurable: true })
  keysOf.set(counts, keys + 1)
}

/** The beginning of a text in quotes; nothing in it steers a terminal or changes its direction of reading. */
export function quoted(text: string): string {
  const cut = text.slice(0, TEXT_SHOWN)
  // Formats (Cf) change the direction of what follows; surrogates, private and unassigned characters (C) show
  // nothing.
  const visible = JSON.stringify(cut).replace(
    /[\p{C}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
  return text.length > TEXT_SHOWN ? `${visible}…` : visible
}
