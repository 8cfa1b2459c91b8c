/**
 * The grammar of a header's cell: a name, a unit, a zone, qualifiers (statistic, sensor or depth, direction,
 * quality) and nothing else. Every word and every sign with a meaning is accounted for: what is left makes
 * the cell unclear.
 */
import {
  FILLERS,
  isGeneric,
  type Known,
  knownAs,
  leadOf,
  type Meaning,
  plainName,
  type Qualifier,
  rankOfRole,
  type Role,
} from './known-names.ts'
import { isUnit } from './units.ts'
import { entryOf } from '../../system/entry-of.ts'

export interface HeaderCell {
  readonly text: string
  readonly meaning: (Meaning & { readonly word: string }) | null
  /** Meanings of an ambiguous word; empty for any other. */
  readonly can: readonly string[]
  readonly roles: readonly Role[]
  /** The word that gives the role. */
  readonly roleWord: string
  /** Empty without one. */
  readonly unit: string
  /** The lead of its times over UTC, "+09:00"; `local` for an unnamed clock. */
  readonly lead: string | null
  readonly isFlag: boolean
  /** Whether its cells are the units of another column. */
  readonly isUnits: boolean
  /** The name without unit, zone and words of quality: what flags and their measures have in common. */
  readonly base: string
  /** Number of a sensor or a level, if the name has one. */
  readonly number: number | null
  readonly depth: number | null
  readonly qualifiers: ReadonlySet<Qualifier>
  /** The order of year, month and day in a named format: "DMY". */
  readonly order: string
  /** Kind of a quantity that is not read, `air`; null for a measure and for an unknown name. */
  readonly family: string | null
  /** Words without a meaning here. */
  readonly unknown: readonly string[]
}

/** A word, a number or a sign that means something. */
interface Token {
  readonly text: string
  readonly from: number
  readonly to: number
  /** The pair of brackets that it is in, from 1; 0 outside. */
  readonly group: number
}

/** Some tokens with one meaning. */
interface Part {
  readonly kind: 'name' | 'unit' | 'lead' | 'number' | 'depth' | 'compass' | 'order' | 'duration' | 'unknown'
  readonly text: string
  readonly group: number
  readonly known: Known | null
}

/** More than the longest real names have; what is longer is prose. */
const MOST_TOKENS = 40
const MOST_IN_PART = 12
/** Characters; the longest names and units here have some fifty. */
const LONGEST_PART = 80

const WORD = /[\p{L}\p{M}]+|\d+(?:\.\d+)?|[^\s\p{L}\p{M}\d]/gu
/** "waveFlagPrimary" and "UTCOffset" word by word. */
const CASED = /\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}]+|\p{Lu}/gu
/** Signs that part words and mean nothing. */
const PARTING = /^[-_,;:./|*#'"~]$/
const [OPENING, CLOSING] = ['([{', ')]}']

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let [group, groups] = [0, 0]
  for (const { 0: sign, index } of text.matchAll(WORD)) {
    if (OPENING.includes(sign)) group = ++groups
    else if (CLOSING.includes(sign)) group = 0
    else if (!PARTING.test(sign))
      for (const { 0: word, index: within } of sign.matchAll(CASED)) {
        const from = index + within
        tokens.push({ text: word, from, to: from + word.length, group })
      }
  }
  return tokens
}

const DEPTH = /^(?:at )?[-+]? ?(\d+(?:\.\d+)?) ?-?_?(m|cm|ft|meters?|metres?)$/i
const DURATION = /^(?:\d{1,3} ?-? ?)(?:min|mins|minutes?|h|hr|hrs|hours?)$/i
const COMPASS = /^(?:0|360) ?(?:=|is) ?n(?:orth)?(?:,? ?90 ?(?:=|is) ?e(?:ast)?)?$/i
/** A format of times beside a name: "dd/mm/yyyy hh:mm". */
const ORDER = /^(?:[ymd]{1,4}[-/. ]?){3}(?:[t ,]*h{1,2}.{0,9})?$/i

/** The meaning of some tokens together; null for none. */
function partOf(text: string, tokens: readonly Token[], at: number, end: number): Part | null {
  const { group, from } = tokens[at]
  for (let i = at + 1; i <= end; i++) {
    if (tokens[i].group !== group) return null
  }
  const raw = text.slice(from, tokens[end].to)
  if (raw.length > LONGEST_PART) return null
  const part = (kind: Part['kind'], known: Known | null = null, what = raw): Part => ({
    kind,
    text: what,
    group,
    known,
  })
  if (group > 0 && leadOf(raw) !== null) return part('lead')
  const unit = raw.replace(/^in /i, '')
  // Outside of brackets a sign or a blank parts a unit from its name.
  const isApart = at > 0 && tokens[at - 1].to < from
  if ((group > 0 || isApart) && isUnit(unit)) return part('unit', knownAs(raw) ?? null, unit)
  const known = knownAs(raw) ?? (end > at ? knownAs(withoutFillers(tokens.slice(at, end + 1))) : undefined)
  if (known !== undefined && !(at === end && known.qualifiers.includes('filler'))) return part('name', known)
  if (leadOf(raw) !== null) return part('lead')
  if (/^\d{1,3}$/.test(raw)) return part('number')
  if (DEPTH.test(raw)) return part('depth')
  if (DURATION.test(raw)) return part('duration')
  if (COMPASS.test(raw)) return part('compass')
  const isOrder = ORDER.test(raw) && ['y', 'm', 'd'].every((letter) => raw.toLowerCase().includes(letter))
  return isOrder ? part('order') : null
}

function withoutFillers(tokens: readonly Token[]): string {
  const isFiller = ({ text }: Token): boolean => FILLERS.has(plainName(text))
  if (isFiller(tokens[0]) || isFiller(tokens.at(-1)!)) return ''
  return tokens
    .filter((token) => !isFiller(token))
    .map(({ text }) => text)
    .join('')
}

/** Costs more than any reading of a cell with all of its words. */
const COST_OF_UNKNOWN = 100

/** The reading of a cell with the fewest unknown words, and then the fewest parts. */
function partsOf(text: string): Part[] {
  const tokens = tokensOf(text)
  if (tokens.length > MOST_TOKENS) return [{ kind: 'unknown', text, group: 0, known: null }]
  const best: { cost: number; parts: Part[] }[] = [{ cost: 0, parts: [] }]
  for (let end = 0; end < tokens.length; end++) {
    const { text: word, group } = tokens[end]
    const last: Part = { kind: 'unknown', text: word, group, known: null }
    best[end + 1] = { cost: best[end].cost + COST_OF_UNKNOWN, parts: [...best[end].parts, last] }
    for (let at = end; at >= 0 && end - at < MOST_IN_PART; at--) {
      const part = best[at].cost + 1 < best[end + 1].cost ? partOf(text, tokens, at, end) : null
      if (part !== null) best[end + 1] = { cost: best[at].cost + 1, parts: [...best[at].parts, part] }
    }
  }
  return best[tokens.length].parts
}

const TIMES: ReadonlySet<Role> = new Set([
  'time',
  'date',
  'clock',
  'year',
  'month',
  'day',
  'minute',
  'second',
])
const DEEP: ReadonlySet<string> = new Set(['waterTemperature', 'windSpeed', 'windDirection', 'gustSpeed'])

/** Cells that were read: files of a folder have the same ones. It is emptied when it is full. */
const READ = new Map<string, HeaderCell>()
const MOST_READ = 2000

export function readHeaderCell(text: string): HeaderCell {
  if (READ.size >= MOST_READ) READ.clear()
  return entryOf(READ, text, () => readCell(text))
}

function readCell(text: string): HeaderCell {
  const parts = partsOf(text)
  const unknown: string[] = []
  const named = parts.filter(({ kind, known }) => kind === 'name' && known !== null)
  const partsBy = (kind: Part['kind']): Part[] => parts.filter((part) => part.kind === kind)
  const meant = named.filter(({ known }) => known!.meaning !== undefined)
  const specific = meant.filter(({ known }) => !isGeneric(known!.meaning!.word))
  const [main] = specific.length > 0 ? specific : meant
  const meaning = main?.known!.meaning ?? null
  const qualifiers = new Set<Qualifier>()
  // A word with a name of its own counts as a qualifier only beside another name.
  const others = named.filter((part) => part !== main)
  const cans = others.filter(({ known }) => known!.can !== undefined)
  const families = others.filter(({ known }) => known!.family !== undefined)
  const roled = others.filter(({ known }) => known!.roles.length > 0)
  const isQuality = named.some(({ known }) => known!.qualifiers.includes('quality'))
  const isOfOther = (known: Known): boolean => known.qualifiers.includes('other')
  const isUnits = named.some(({ known }) => known!.qualifiers.includes('unit'))
  const isOther =
    (meaning !== null || cans.length > 0) &&
    others.some(({ known }) => isOfOther(known!) || known!.family !== undefined)
  const has = (word: Qualifier): boolean => others.some(({ known }) => known!.qualifiers.includes(word))
  const narrowed = (cans[0]?.known!.can ?? []).filter(
    (name) =>
      (has('wave') ? familyOf(name) === 'wave' : true) && (has('wind') ? familyOf(name) === 'wind' : true),
  )
  const can = meaning === null && families.length === 0 ? narrowed : []
  const isNamed = meaning !== null || can.length > 0 || families.length > 0
  const roles = isNamed || isQuality ? [] : rolesOf(roled)
  const leads = partsBy('lead')
  const quantities: readonly string[] = meaning === null ? can : [meaning.name]
  const isDirection = quantities.some((name) => name.toLowerCase().endsWith('direction'))
  const isTime = roles.some((role) => TIMES.has(role)) || (!isNamed && roles.length === 0 && leads.length > 0)
  const isPlace = roles.includes('lat') || roles.includes('lng')
  const isWind = quantities.some((name) => familyOf(name) === 'wind')
  const fits: { readonly [qualifier in Qualifier]: boolean } = {
    statistic: true,
    other: isNamed || isQuality,
    quality: true,
    qualityPart: isQuality,
    unit: true,
    from: isDirection,
    to: isDirection,
    north: isDirection,
    magnetic: isDirection,
    hemisphere: isPlace || isDirection,
    surface: quantities.includes('waterTemperature') || isQuality,
    local: isTime,
    wave: isQuality || !isWind,
    wind: isQuality || isWind,
    filler: false,
  }
  for (const part of others) {
    const { meaning: second, can: also, roles: own, family, qualifiers: words } = part.known!
    const isSame = second !== undefined && (second.name === meaning?.name || isGeneric(second.word))
    const isNarrowed = also?.some((name) => quantities.includes(name)) === true
    const isRole = own.some((role) => roles.includes(role))
    const fitting = words.filter((word) => fits[word])
    for (const word of fitting) qualifiers.add(word)
    if (!(isSame || isNarrowed || isRole || family !== undefined || fitting.length > 0))
      unknown.push(part.text)
  }
  const units = partsBy('unit').filter(
    ({ known }) => !(known?.qualifiers.includes('hemisphere') === true && isPlace),
  )
  const takesUnit = isNamed || isQuality || isPlace || isTime || roles.includes('depth')
  const leave = (left: readonly Part[]): number => unknown.push(...left.map((part) => part.text))
  leave(units.slice(takesUnit ? 1 : 0).filter(({ text: unit }) => unit !== units[0].text || !takesUnit))
  leave(leads.slice(isTime ? 1 : 0))
  leave(partsBy('number').slice(isNamed || isQuality ? 1 : 0))
  leave(
    partsBy('depth').slice(
      isQuality || quantities.some((name) => DEEP.has(name)) || families.length > 0 ? 1 : 0,
    ),
  )
  leave(isDirection ? [] : partsBy('compass'))
  leave(isTime ? [] : partsBy('order'))
  leave(isNamed ? [] : partsBy('duration'))
  leave(partsBy('unknown'))
  // In brackets behind a humidity, "1" is CF's unit of a share, and no sensor.
  const share =
    quantities.includes('humidity') &&
    partsBy('number').some(({ group, text: one }) => group > 0 && one === '1')
  const zoneOfName = /(utc|gmt)$/.exec(plainName(named[0]?.text ?? ''))
  const leadOfName = isTime && zoneOfName !== null ? '+00:00' : null
  const [depth] = partsBy('depth')
  const [, metres, measure = 'm'] = DEPTH.exec(depth?.text ?? '') ?? []
  return {
    text,
    meaning: isOther ? null : meaning,
    can: isOther ? [] : can,
    roles: isTime && roles.length === 0 ? ['clock', 'time'] : roles,
    roleWord: roled[0]?.text ?? '',
    unit: units[0]?.text ?? (share ? '1' : ''),
    lead: leads.length > 0 ? leadOf(leads[0].text) : leadOfName,
    isFlag: isQuality && !qualifiers.has('other'),
    isUnits,
    base: plainName(
      parts
        .filter(({ kind, known }) => ['name', 'unknown', 'number'].includes(kind) && !isOfQuality(known))
        .map((part) => part.text)
        .join(''),
    ),
    number: partsBy('number').length > 0 ? Number(partsBy('number')[0].text) : null,
    depth: metres === undefined ? null : Number(metres) * (METRES[measure[0].toLowerCase()] ?? 1),
    qualifiers,
    order: orderIn(partsBy('order')[0]?.text ?? ''),
    family: families[0]?.known!.family ?? (isOther ? '' : null),
    unknown,
  }
}

/** The kind of a quantity: neighbours of one kind explain an ambiguous word. */
export function familyOf(quantity: string): string {
  if (quantity.startsWith('current')) return 'current'
  if (/^(?:air|dew|pressure|humidity|visibility)/.test(quantity)) return 'air'
  if (quantity === 'waterTemperature') return 'water'
  if (quantity === 'waterDepth') return 'depth'
  return /^(?:wind(?!Wave)|gust)/.test(quantity) ? 'wind' : 'wave'
}

/** "DMY" of "dd/mm/yyyy hh:mm". */
export const orderIn = (format: string): string =>
  format
    .replace(/[ T_,-]*h.*$/i, '')
    .toUpperCase()
    .replaceAll(/[^YMD]/g, '')
    .replaceAll(/(.)\1+/g, '$1')

/** Metres in the units of a depth, by their first letter. */
const METRES: { readonly [letter: string]: number } = { m: 1, c: 0.01, f: 0.3048 }

const isOfQuality = (known: Known | null): boolean =>
  known?.qualifiers.some(
    (word) => word === 'quality' || word === 'qualityPart' || word === 'statistic' || word === 'unit',
  ) === true

/** The roles that all words with one have in common. "Station Name" is a name. */
function rolesOf(roled: readonly Part[]): Role[] {
  const [first, ...more] = roled.map(({ known }) => known!.roles)
  return (first ?? []).filter((role) => more.every((roles) => roles.includes(role)))
}

/** Whether a cell names a measure, whatever its other words. */
export const namesMeasure = ({ meaning, can }: HeaderCell): boolean => meaning !== null || can.length > 0

export const namesTime = ({ roles }: HeaderCell): boolean => roles.some((role) => TIMES.has(role))

/** The column with a role, the one whose name is listed first if there are several; −1 for none. */
export function fieldOf(role: Role, cells: readonly HeaderCell[]): number {
  const ranks = cells.map(({ roles, roleWord, unknown, isUnits }) =>
    roles.includes(role) && unknown.length === 0 && !isUnits ? rankOfRole(role, roleWord) : Infinity,
  )
  const least = Math.min(...ranks)
  return least === Infinity ? -1 : ranks.indexOf(least)
}
