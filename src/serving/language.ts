/**
 * Which of our languages a client wants: RFC 9110, section 12.5.4 (`Accept-Language`), matched by the lookup
 * of RFC 4647.
 */

/** Browsers send some 50 characters; whoever sends more than this gets the default. */
const MAX_HEADER = 1000

const OPTIONAL_BLANKS = '[ \\t]*'
const RANGE = '(\\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)'
const QUALITY = '(0(?:\\.[0-9]{0,3})?|1(?:\\.0{0,3})?)'
const ELEMENT = new RegExp(
  `^${OPTIONAL_BLANKS}(?:${RANGE}(?:${OPTIONAL_BLANKS};${OPTIONAL_BLANKS}q=${QUALITY})?)?${OPTIONAL_BLANKS}$`,
  'i',
)

/**
 * The supported language that a header's value prefers. A range with a region (`en-GB`) stands for its
 * language, `q=0` on a language excludes it, `*` is every language that is not named; of equal qualities the
 * one named first wins. The first supported language is the answer to everything else: no header, a malformed
 * or overlong one, or none that we speak.
 */
export function preferredLanguage<L extends string>(header: string, supported: readonly L[]): L {
  const [fallback] = supported
  if (header === '' || header.length > MAX_HEADER) return fallback
  /** Best quality and its place in the header, by language. */
  const wanted = new Map<string, { quality: number; place: number }>()
  const excluded = new Set<string>()
  const elements = header.split(',')
  for (let place = 0; place < elements.length; place++) {
    const match = ELEMENT.exec(elements[place])
    if (match === null) return fallback
    // An empty element of a list does not count.
    if (match[1] === undefined) continue
    const range = match[1].toLowerCase()
    const quality = Number(match[2] ?? 1)
    const [language] = range.split('-')
    if (quality === 0) {
      // Refusing a regional form says nothing of the others.
      if (range === language) excluded.add(language)
    } else if (quality > (wanted.get(language)?.quality ?? 0)) wanted.set(language, { quality, place })
  }
  let best = { language: fallback, quality: 0, place: 0 }
  for (const language of supported) {
    const found = excluded.has(language) ? undefined : (wanted.get(language) ?? anyLanguage())
    if (found === undefined) continue
    const { quality, place } = found
    if (quality > best.quality || (quality === best.quality && place < best.place))
      best = { language, quality, place }
  }
  return best.language

  function anyLanguage(): { quality: number; place: number } | undefined {
    return excluded.has('*') ? undefined : wanted.get('*')
  }
}
