/** The formats that texts of times can be in. A format consumes the whole text. */
import { entryOf } from '../../system/entry-of.ts'
import { orderIn } from './header.ts'
import FORMS from './time-formats.json' with { type: 'json' }
import { formatReader, isoWritten, patternOf, type Written } from './times.ts'

const DATES = FORMS.signs
  .flatMap((sign) => FORMS.numeric.map((date) => date.replaceAll(' ', sign)))
  .concat(FORMS.named)
const HOURS = [
  '',
  ...FORMS.clocks.flatMap((clock) => [' ', ', '].map((sign) => sign + clock)),
  ...['T', '-'].flatMap((sign) => FORMS.joined.map((clock) => sign + clock)),
]

type Read = (text: string) => Written

const FORMATS: readonly string[] = [
  ...DATES.flatMap((date) => HOURS.map((hour) => date + hour)),
  // Clocks without signs may follow dates without signs.
  ...FORMS.plainDates.flatMap((date) => [...HOURS, ...FORMS.plainHours].map((hour) => date + hour)),
]

/** Patterns by format. They are compiled once, when the first table without a format comes. */
const PATTERNS = new Map<string, RegExp>()

/** The formats whose pattern one of the texts matches, with their readers. */
function formatsLike(texts: readonly string[]): { format: string; read: Read }[] {
  const patternFor = (format: string): RegExp => entryOf(PATTERNS, format, () => patternOf(format)!)
  const found = FORMATS.filter((format) => texts.some((text) => patternFor(format).test(text)))
  return [
    { format: 'ISO', read: isoWritten },
    ...found.map((format) => ({ format, read: formatReader(format)! })),
  ]
}

const SECONDS = 'seconds since 1970-01-01'
const MILLISECONDS = 'milliseconds since 1970-01-01'
/** Epoch seconds from March 1973 to February 2106: what a count of 9 or 10 digits can be. */
const [FIRST_COUNT, LAST_COUNT] = [1e8, 2 ** 32]

/** The count that all texts can be; null for none. Counts of other lengths must be named. */
function countOf(texts: readonly string[], isNamed: boolean): string | null {
  const isWithin = (text: string, factor: number): boolean =>
    Number(text) >= FIRST_COUNT * factor && Number(text) < LAST_COUNT * factor
  if (texts.every((text) => /^\d{9,10}(?:\.\d+)?$/.test(text) && isWithin(text, 1))) return SECONDS
  const milliseconds = isNamed ? /^\d{12,13}(?:\.\d+)?$/ : /^\d{13}$/
  return texts.every((text) => milliseconds.test(text) && isWithin(text, 1000)) ? MILLISECONDS : null
}

/** Shapes of texts that are looked at for formats: real columns have a few. */
const MOST_SHAPES = 50

/** The header of a column of times. */
export interface Told {
  /** The order of year, month and day; empty without one. */
  readonly order: string
  /** Whether its name is a count's, such as "Epoch Time". */
  readonly isCount: boolean
}

/**
 * The formats that read most of the texts, `ISO` alone where it reads them all: several where day and month
 * can be either, and the steps from row to row do not tell. None if they read fewer than half, or if other
 * formats read the rest: dates in two orders. Digits are a date before they are a count. The first `inOrder`
 * texts are of rows one after another.
 */
export function formatsOf(
  texts: readonly string[],
  inOrder = texts.length,
  { order, isCount }: Told = { order: '', isCount: false },
): string[] {
  if (texts.length === 0) return []
  const count = countOf(texts, isCount)
  if (count !== null && isCount) return [count]
  // Texts of one shape match the same patterns.
  const shapes = new Map(texts.map((text) => [text.replaceAll(/\d/g, '0'), text]))
  const tried = formatsLike([...shapes.values()].slice(0, MOST_SHAPES))
    .filter(({ format }) => order === '' || format === 'ISO' || orderIn(format) === order)
    .map(({ format, read }) => ({
      format,
      read,
      unread: new Set(texts.filter((text) => read(text) === null)),
    }))
    .filter(({ unread }) => unread.size < new Set(texts).size)
  if (tried.length === 0) return count === null ? [] : [count]
  const missed = (unread: ReadonlySet<string>): number => texts.filter((text) => unread.has(text)).length
  const least = Math.min(...tried.map(({ unread }) => missed(unread)))
  const best = tried.filter(({ unread }) => missed(unread) === least)
  const isMixed = best.some(({ unread }) =>
    [...unread].some((text) => tried.some((other) => !other.unread.has(text))),
  )
  if (isMixed || least * 2 > texts.length) return count === null ? [] : [count]
  const formats = best.map(({ format }) => format)
  if (formats.includes('ISO')) return ['ISO']
  return best.length === 1 ? formats : byStep(best, texts.slice(0, inOrder))
}

/** Steps that tell one format from another. */
const FEWEST_STEPS = 4
/** Share of the time in equal steps: of a regular series, and of an irregular one. */
const [REGULAR, IRREGULAR] = [0.9, 0.75]

/** The one format with regular steps from row to row, if the others leap; else all. */
function byStep(formats: readonly { format: string; read: Read }[], texts: readonly string[]): string[] {
  const regularity = ({ read }: { read: Read }): number => {
    const times = texts.flatMap((text) => read(text)?.local ?? [])
    const steps = times.slice(1).map((time, i) => time - times[i])
    const counts = new Map<number, number>()
    for (const step of steps) counts.set(step, (counts.get(step) ?? 0) + 1)
    const [common, often] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [0, 0]
    const whole = steps.reduce((sum, step) => sum + Math.abs(step), 0)
    return steps.length < FEWEST_STEPS || whole === 0 ? NaN : (Math.abs(common) * often) / whole
  }
  const found = formats.map((one) => ({ format: one.format, share: regularity(one) }))
  const regular = found.filter(({ share }) => share >= REGULAR)
  const isTold = regular.length === 1 && found.every((one) => one === regular[0] || one.share < IRREGULAR)
  return isTold ? [regular[0].format] : found.map(({ format }) => format)
}
