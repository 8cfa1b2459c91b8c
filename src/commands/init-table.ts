/** `init --table`: looks at tables, shows what each column means, and proposes a source for them. */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { MEASURES } from '../sea/columns.ts'
import { isZone } from '../sea/zones.ts'
import type { FileReport } from '../sources/source.ts'
import { readText } from '../sources/reading/source-files.ts'
import { timeUnit } from '../sources/reading/times.ts'
import { compileMap, type TableOptions, type TableSpec } from '../sources/tables/column-map.ts'
import { type FoundTable, type Layout, layoutOf } from '../sources/tables/layout.ts'
import { findTable } from '../sources/tables/table.ts'
import { BuildError } from '../system/build-error.ts'
import { print } from './surroundings.ts'

/** Facts that tables may lack and the operator knows; empty where the operator has not given one. */
export interface Told {
  readonly station: string
  readonly lat: string
  readonly lng: string
  readonly 'time-zone': string
  readonly 'time-format': string
  readonly 'good-flags': string
  readonly network: string
}

/** Takes the answers to questions. */
type Answers = { -readonly [name in keyof Told]: string }

type Question = Exclude<keyof Told, 'network'>

/** The questions, and the answers that are understood. */
const QUESTIONS: { readonly [name in Question]: readonly [what: string, fits: RegExp] } = {
  station: ['the name of the station', /^[^"\p{Cc}]{1,64}$/u],
  lat: ['its latitude in degrees, south is negative', /^[+-]?\d{1,2}(\.\d+)?$/],
  lng: ['its longitude in degrees, west is negative', /^[+-]?\d{1,3}(\.\d+)?$/],
  'time-zone': [
    'the zone of its times: UTC, +10:00 or Australia/Brisbane',
    /^UTC$|^[+-]\d\d:\d\d$|^[A-Za-z]+\/[\w/+-]+$/,
  ],
  'time-format': ['the format of its times, such as DD/MM/YYYY HH:mm', /YY/],
  'good-flags': ['the flags that are good, such as 0,1', /^.+$/],
}

interface Look {
  found: FoundTable
  layout: Layout | string
  doubts: string[]
}

export interface Proposal {
  /** The folder of the tables, absolute. */
  folder: string
  options: TableOptions
}

/** The source that reads some tables of one folder. @throws BuildError for a missing fact, with its option */
export async function proposeTables(paths: readonly string[], told: Told): Promise<Proposal> {
  const [folder, ...others] = new Set(paths.map((path) => dirname(resolve(path))))
  if (others.length > 0) throw new BuildError('the tables are in several folders: put them into one')
  const answers: Answers = { ...told }
  const isListed = existsSync(join(folder, 'stations.csv'))
  const stations: NonNullable<TableOptions['stations']> = []
  const tables: TableSpec[] = []
  for (const path of paths) {
    const { found, layout } = await understand(path, answers)
    const spec = specOf(found, layout, answers)
    const isMany = typeof layout.station === 'number'
    const isPlaced = layout.lat >= 0 || isListed
    if (!isPlaced && (isMany || (paths.length > 1 && told.station === '')))
      throw new BuildError(
        `${path}: it has no columns of positions: put a list stations.csv (identifier,name,lat,lng) beside it`,
      )
    if (!isMany) {
      const named = String(layout.station)
      const isOwn = paths.length > 1 && told.station === ''
      const identifier = isOwn ? named : await ask('station', answers, path, named)
      if (!isPlaced || told.lat !== '') {
        const [lat, lng] = [await ask('lat', answers, path), await ask('lng', answers, path)].map(Number)
        stations.push({ identifier, name: identifier, lat, lng })
      }
      spec.station = { is: identifier }
    }
    tables.push({ files: basename(path).replace(/\.gz$/i, ''), ...spec })
  }
  const unique = [...new Map(stations.map((station) => [station.identifier, station])).values()]
  return {
    folder,
    options: {
      source: told.network || 'Own buoys',
      network: 'coastal',
      ...(unique.length > 0 && { stations: unique }),
      tables,
    },
  }
}

/** Looks at a table until everything is known. */
async function understand(path: string, answers: Answers): Promise<{ found: FoundTable; layout: Layout }> {
  for (let turn = 0; ; turn++) {
    const { found, layout, doubts } = await lookAt(path, answers)
    const problem =
      typeof layout === 'string' ? layout : (doubts.find((doubt) => doubt.startsWith('flags')) ?? '')
    const question = questionOf(problem)
    if (question !== null && answers[question] === '' && turn < 4) {
      await ask(question, answers, path, '', problem)
      continue
    }
    if (typeof layout === 'string') throw new BuildError(`${path}: ${layout}`)
    if (layout.measured.length === 0)
      throw new BuildError(
        `${path}: no column is known; it has ${found.table.labels.join(', ')}. Name them in "values"`,
      )
    print(`${path}:`)
    for (const line of doubts) print(`  ${line}`)
    return { found, layout }
  }
}

function questionOf(problem: string): Question | null {
  if (problem.includes('name no zone')) return 'time-zone'
  if (problem.startsWith('the times of')) return 'time-format'
  return problem.startsWith('flags') ? 'good-flags' : null
}

async function lookAt(path: string, answers: Answers): Promise<Look> {
  let fault = ''
  const file: FileReport = {
    rows: () => undefined,
    skipped: () => undefined,
    bad: (line, reason) => void (fault ||= `line ${line}: ${reason}`),
    end: () => true,
  }
  const bytes = await readText(path, file)
  const time = timeOf(answers)
  const flags = answers['good-flags'] === '' ? undefined : answers['good-flags'].split(',')
  const look = (spec: TableSpec): Look | null => {
    const [map] = compileMap('table', { tables: [spec] }).tables
    const [found] = findTable(bytes, path, map, file)
    if (found === undefined) return null
    const doubts: string[] = []
    const layout = layoutOf(found, new Map(), (kind, example) => {
      if (kind === 'unexplainedFlags') doubts.push(`flags: ${example}`)
      else doubts.push(...(kind === 'columns' ? example.split('; ') : [`${WORDS[kind] ?? kind}: ${example}`]))
    })
    return { found, layout, doubts }
  }
  const station = answers.station === '' ? {} : { station: { is: answers.station } }
  const known: TableSpec = { ...(time !== null && { time }), ...station }
  const first = look(known)
  const hasRow = first?.found.look?.()?.next() ?? false
  if (first === null || !hasRow)
    throw new BuildError(`${path}: ${fault === '' ? 'no row is below the header' : fault}`)
  const flagged = [
    ...new Set(first.doubts.flatMap((doubt) => /^flags: .* flags in (.*)$/.exec(doubt)?.[1] ?? [])),
  ]
  if (flags === undefined || flagged.length === 0) return first
  const good = Object.fromEntries(flagged.map((label) => [label, flags]))
  return look({ ...known, flags: good }) ?? first
}

const WORDS: { readonly [kind: string]: string } = {
  metres: 'taken for metres, as it has no unit',
  usualUnit: 'taken in the usual unit, as it has none',
  noUnit: 'left out, as it has no unit',
  unknownColumn: 'left out, as its unit is not known',
  meanPeriod: 'the mean period stands for the period, as there is no other',
  second: 'not read',
}

function timeOf(answers: Told): NonNullable<TableSpec['time']> | null {
  const zone = answers['time-zone']
  const unit = answers['time-format']
  const isNamed = isZone(zone) && zone !== 'UTC'
  const said = isNamed ? { zone } : { offset: zone === 'UTC' ? '+00:00' : zone }
  const clock = zone === '' ? {} : said
  return zone === '' && unit === '' ? null : { ...clock, ...(unit !== '' && { unit }) }
}

/** The map of a table with all that was recognised, so that a file with other names is refused. */
function specOf({ table, map }: FoundTable, layout: Layout, answers: Told): TableSpec {
  const { labels, units } = table
  const values: NonNullable<TableSpec['values']> = {}
  for (const { field, column } of layout.measured) {
    const isUsual = units[field] === ''
    values[column.name] = { at: labels[field], ...(isUsual && { unit: MEASURES[column.name].unit }) }
  }
  const [first, ...more] = layout.time.fields.map((field) => labels[field])
  const { unit } = layout.time
  return {
    time: {
      at: more.length === 0 ? first : [first, ...more],
      unit,
      ...(timeUnit(unit) === null && (timeOf(answers) ?? {})),
    },
    values,
    ...(map.flags !== undefined && { flags: map.flags }),
  }
}

/** A fact from an option, or from an answer at the terminal. @throws BuildError without either */
async function ask(
  name: Question,
  answers: Answers,
  path: string,
  usual = '',
  problem = '',
): Promise<string> {
  const [what, fits] = QUESTIONS[name]
  if (answers[name] === '') {
    if (problem !== '') print(`${path}: ${problem}`)
    if (!process.stdin.isTTY) {
      if (usual === '')
        throw new BuildError(`${path}: ${problem === '' ? 'it does not say' : 'give'} ${what}: --${name}`)
      answers[name] = usual
    } else {
      const terminal = createInterface({ input: process.stdin, output: process.stdout })
      do {
        const answer = await terminal.question(`${path}: ${what}${usual === '' ? '' : ` [${usual}]`}? `)
        answers[name] = answer.trim() || usual
      } while (!fits.test(answers[name]))
      terminal.close()
    }
  }
  if (!fits.test(answers[name])) throw new BuildError(`--${name}: expected ${what}`)
  return answers[name]
}
