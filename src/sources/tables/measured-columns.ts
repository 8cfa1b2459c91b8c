/** Chooses the columns of measures: by the map, by CF standard names, and by the words of the header. */
import { familyOf, type HeaderCell, namesMeasure, namesTime } from '../reading/header.ts'
import { isGeneric, type Meaning, type Quantity, STANDARD_NAMES } from '../reading/known-names.ts'
import { MEASURE_NAMES, type MeasureName } from '../../sea/columns.ts'
import type { At, MappedTable, ValueSpec } from './column-map.ts'
import type { Attributes } from '../reading/flags.ts'
import type { Columns } from './questions.ts'

interface Choice extends Columns {
  readonly labels: readonly string[]
  readonly info: Attributes
  readonly map: MappedTable
  readonly columnOf: (at: At) => number
}

interface Candidate extends Meaning {
  readonly field: number
  readonly isOwn: boolean
}

/** After all ranks of names. */
const NUMBERED = 1000
const GENERIC = 500
/** Sensors are counted from 1; a greater number behind a temperature may be a depth. */
const MOST_SENSORS = 5

/**
 * The column of each quantity. A well-known own name counts more than a standard name that contradicts it, a
 * full name more than one with a number, and a word of several meanings only with neighbours that explain it.
 * Only a period may share its column.
 */
export function chooseColumns(choice: Choice): Map<Quantity, number> {
  const { cells, labels, map, columnOf, sample, doubt, ask } = choice
  const chosen = new Map<Quantity, number>()
  for (const [name, value] of Object.entries(map.values ?? {}) as [MeasureName, ValueSpec | null][]) {
    const field = value === null ? -1 : columnOf(value.at)
    if (field >= 0) chosen.set(name, field)
  }
  const taken = new Set(chosen.values())
  const meant = cells.flatMap((_, field) => (taken.has(field) ? [] : candidateOf(field, choice)))
  meant.sort((a, b) => Number(a.isOwn) - Number(b.isOwn) || a.rank - b.rank)
  for (const name of new Set(meant.map((one) => one.name))) {
    const [first, ...others] = meant.filter((one) => one.name === name)
    const isUnsure =
      sample !== null &&
      isNumbered(first, cells) &&
      (others.length > 0 ? name !== 'waterTemperature' : isDeepNumber(first, cells))
    if (isUnsure && !chosen.has(name)) {
      const which = [first, ...others].map(({ field }) => labels[field]).join(', ')
      ask({
        about: 'measure',
        column: labels[first.field],
        why: `its number may be a part, a sensor or a depth`,
        can: [name],
      })
      doubt('unclearColumn', `${which}: which is ${name}?`)
      continue
    }
    const known = chosen.get(name)
    const rest = known === undefined ? others : [first, ...others]
    if (known === undefined) chosen.set(name, first.field)
    for (const { field } of rest)
      doubt('second', `${labels[field]} for ${name}, beside ${labels[chosen.get(name)!]}`)
  }
  explain(chosen, choice)
  return chosen
}

const isNumbered = ({ field, isOwn }: Candidate, cells: readonly HeaderCell[]): boolean =>
  isOwn && cells[field].number !== null

const isDeepNumber = ({ field, name }: Candidate, cells: readonly HeaderCell[]): boolean =>
  name === 'waterTemperature' && cells[field].number! > MOST_SENSORS

/** The meaning of a column by its standard name or its own name. */
function candidateOf(
  field: number,
  { cells, labels, info, map: { values: given = {}, time }, sample, doubt, ask }: Choice,
): Candidate[] {
  const cell = cells[field]
  const label = labels[field]
  const standardName = info.get(label)?.get('standard_name')
  const standard = STANDARD_NAMES.get(standardName ?? label)
  const isReadable = !cell.isFlag && !cell.isUnits
  const isClear = cell.unknown.length === 0
  if (
    !isClear &&
    isReadable &&
    standard === undefined &&
    (namesMeasure(cell) || (sample !== null && time?.at === undefined && namesTime(cell)))
  ) {
    const words = cell.unknown.map((word) => JSON.stringify(word)).join(', ')
    const measures = cell.meaning === null ? cell.can : [cell.meaning.name]
    const can = measures.length > 0 ? measures : ['time']
    if (can.every((name) => !(name in given))) {
      doubt('unclearColumn', `${cell.text}: ${words}`)
      ask({ about: 'measure', column: cell.text, why: `what ${words} means is not known`, can })
    }
  }
  const isAway = isFarFromSurface(cell)
  if (isAway && cell.meaning !== null && familyOf(cell.meaning.name) === 'wind')
    doubt('otherLevel', cell.text)
  const own = isClear && isReadable && !isAway ? cell.meaning : null
  const isContradicted =
    own !== null && !isGeneric(own.word) && standardName !== undefined && standard?.name !== own.name
  const isOwn = isContradicted || standard === undefined
  const meaning = isOwn ? own : standard
  if (meaning === null || meaning === undefined || meaning.name in given) return []
  if (isContradicted) doubt('ownName', `${label} with ${standardName}, read as ${meaning.name}`)
  const numbered = cell.number === null ? 0 : NUMBERED + 10 * cell.number
  const generic = own !== null && isGeneric(own.word) ? GENERIC : 0
  const depth = cell.depth === null ? 0 : Math.round(cell.depth * 10)
  const surface = cell.qualifiers.has('surface') ? -1 : 0
  const rank = isOwn ? meaning.rank + numbered + generic + depth + surface : meaning.rank
  return [{ name: meaning.name, rank, field, isOwn }]
}

/** Metres: deeper water is not what swimmers call the water temperature. */
export const MAX_TEMPERATURE_DEPTH_M = 5

/** Wind is that of 10 m above the sea; anemometers of buoys and ships are at 3 to 20 m. */
const MAX_WIND_HEIGHT_M = 20

const isFarFromSurface = ({ meaning, depth }: HeaderCell): boolean =>
  (depth ?? 0) > (meaning?.name === 'waterTemperature' ? MAX_TEMPERATURE_DEPTH_M : MAX_WIND_HEIGHT_M)

/**
 * Takes words of several meanings, such as "Direction", with the neighbours that explain them; others are
 * asked about.
 */
function explain(
  chosen: Map<Quantity, number>,
  { cells, labels, map: { values: given = {} }, info, sample, doubt, ask }: Choice,
): void {
  const used = new Set(chosen.values())
  const familyAt = (field: number): string => {
    const cell = cells[field]
    if (cell === undefined || cell.unknown.length > 0) return ''
    return cell.meaning === null ? (cell.family ?? '') : familyOf(cell.meaning.name)
  }
  const present = new Set(cells.map((_, field) => familyAt(field)))
  for (const [field, cell] of cells.entries()) {
    if (cell.can.length === 0 || cell.unknown.length > 0 || cell.isFlag || cell.isUnits || used.has(field))
      continue
    if (STANDARD_NAMES.has(info.get(labels[field])?.get('standard_name') ?? '')) continue
    const free = cell.can.filter((name) => !chosen.has(name as Quantity) && !(name in given))
    const possible = free.filter((name) => present.has(familyOf(name)))
    const near = new Set([-1, 1].map((side) => familyAt(nextOf(field, side, cells))))
    const explained = possible.filter((name) => near.has(familyOf(name)))
    const isCode = cells.some(({ meaning }) => /^V[A-Z0-9]{3}/.test(meaning?.word ?? ''))
    const byCode = /^TEMP\b/.test(cell.text) && isCode ? ['waterTemperature'] : []
    const only = [byCode, explained, possible, sample === null ? free : []].find(
      (names) => names.length === 1 || (sample === null && names.length > 0),
    )
    const measures = free.filter((name) => isQuantity(name))
    if (only !== undefined) {
      if (isQuantity(only[0])) chosen.set(only[0], field)
    } else if (measures.length > 0) {
      doubt('unclearColumn', `${cell.text}: ${measures.join(' or ')}?`)
      ask({ about: 'measure', column: cell.text, why: `it can be ${cell.can.join(' or ')}`, can: measures })
    }
  }
}

const isQuantity = (name: string): name is Quantity =>
  name === 'meanPeriod' || (MEASURE_NAMES as readonly string[]).includes(name)

/** The nearest column on a side that is no flag and no unit. */
function nextOf(field: number, side: number, cells: readonly HeaderCell[]): number {
  let at = field + side
  while (cells[at] !== undefined && (cells[at].isFlag || cells[at].isUnits || cells[at].can.length > 0))
    at += side
  return at
}
