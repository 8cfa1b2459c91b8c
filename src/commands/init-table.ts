/** `init --table`: looks at tables, shows what each column means, and proposes a source for them. */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { isZone } from '../sea/zones.ts'
import { openKind, unknownWord } from '../sources/kinds.ts'
import DOUBTS from '../sources/doubts.json' with { type: 'json' }
import { readHeaderCell } from '../sources/reading/header.ts'
import { isObject, parseDocument, readText } from '../sources/reading/source-files.ts'
import { timeUnit } from '../sources/reading/times.ts'
import { type FileReport, UNCOUNTED } from '../sources/source.ts'
import {
  type At,
  compileMap,
  isEncoding,
  type TableOptions,
  type TableSpec,
} from '../sources/tables/column-map.ts'
import { escaped, openJson } from '../sources/tables/json.ts'
import { type FoundTable, type Layout, layoutOf, type Question } from '../sources/tables/layout.ts'
import { findTable } from '../sources/tables/table.ts'
import { BuildError } from '../system/build-error.ts'
import { counted } from '../system/text.ts'
import { expectNoKnownKind, namesAsOne, namesLike, stationIn } from './init-files.ts'
import { rowsInWords, stationInWords, tryOut } from './init-shown.ts'
import { clock, print } from './surroundings.ts'

/** Facts that tables may lack and the operator knows; empty where the operator has not given one. */
export interface Told {
  station: string
  lat: string
  lng: string
  'time-zone': string
  'time-format': string
  'good-flags': string
  encoding: string
  readonly delimiter: string
  readonly 'no-header': boolean
  readonly network: string
  /** Columns as `WHAT=HEADER`, and units as `MEASURE=UNIT`. */
  column: readonly string[]
  unit: readonly string[]
}

/** The questions, and the answers that are understood. */
const QUESTIONS = {
  station: ['the name of its one station, or their column by --column station=NAME', /^[^"\p{Cc}]{1,64}$/u],
  lat: ['its latitude in degrees, south is negative', /^[+-]?\d{1,2}(\.\d+)?$/],
  lng: ['its longitude in degrees, west is negative', /^[+-]?\d{1,3}(\.\d+)?$/],
  'time-zone': [
    'the zone of its times: UTC, +10:00 or Australia/Brisbane',
    /^UTC$|^[+-]\d\d:\d\d$|^[A-Za-z]+\/[\w/+-]+$/,
  ],
  'time-format': ['the format of its times, such as DD/MM/YYYY HH:mm', /YY/],
  'good-flags': ['the flags that are good, such as 0,1', /^.+$/],
  encoding: ['the encoding of its text, such as windows-1252', /^[\w.:-]{1,40}$/],
} satisfies { [name: string]: [what: string, fits: RegExp] }
type QuestionName = keyof typeof QUESTIONS

/** The option that answers what a table asks. */
const OPTION_OF: { readonly [about in Question['about']]?: QuestionName } = {
  timeFormat: 'time-format',
  zone: 'time-zone',
  station: 'station',
  flags: 'good-flags',
  encoding: 'encoding',
}

/** Columns that `--column` names besides measures. */
const ROLES = ['time', 'station', 'name', 'lat', 'lng'] as const
const COLUMN_WORDS = [...ROLES, ...MEASURE_NAMES]

const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', blanks: 'blanks' } as const

/** A file before the map of its columns is known. */
interface TableFile {
  path: string
  bytes: Buffer
  isJson: boolean
}

interface Look {
  found: FoundTable
  layout: Layout | string
  doubts: string[]
  questions: Question[]
}

interface Understood extends TableFile {
  spec: TableSpec
  layout: Layout
}

interface Proposal {
  /** The folder of the tables, absolute. */
  folder: string
  kind: 'table' | 'json'
  options: TableOptions
}

const STATION_LIST = 'stations.csv'

/** The source that reads some tables of one folder. @throws BuildError for a missing fact, with its option */
export async function proposeTables(given: readonly string[], told: Told): Promise<Proposal> {
  const [folder, ...others] = new Set(given.map((path) => dirname(resolve(path))))
  if (others.length > 0) throw new BuildError('the tables are in several folders: put them into one')
  const paths = given.filter((path) => basename(path).toLowerCase() !== STATION_LIST)
  if (paths.length === 0) throw new BuildError(`${given[0]}: is a list of stations: name the tables, too`)
  if (told.encoding !== '' && !isEncoding(told.encoding))
    throw new BuildError(
      '--encoding: expected a name of the Encoding Standard, such as windows-1252, iso-8859-7 or shift_jis',
    )
  const answers = { ...told }
  const isListed = existsSync(join(folder, STATION_LIST))
  if (isListed) print(`${join(folder, STATION_LIST)} lists the stations and their positions`)
  const understood = await understandAll(paths, answers)
  const isJson = understood[0].isJson
  if (!understood.some(({ spec }) => 'significantHeight' in spec.values!))
    throw new BuildError(
      `${paths[0]}: no column is known to be the wave height; name it: --column significantHeight=NAME`,
    )
  if (understood.some((one) => one.isJson !== isJson))
    throw new BuildError('some files are JSON and others are not: give them one after the other')
  const stations = new Map<string, NonNullable<TableOptions['stations']>[number]>()
  const tables: TableSpec[] = []
  for (const alike of groupsOf(understood)) {
    const { spec, layout, path } = alike[0]
    const { files, station } = await namesOf(alike, answers)
    const isPlaced = layout.lat >= 0 || isListed
    if (station === null) {
      if (!isPlaced)
        throw new BuildError(
          `${path}: it has no columns of positions: put a list stations.csv (identifier,name,lat,lng) beside it`,
        )
      if (told.lat + told.lng !== '')
        throw new BuildError(
          `${path}: has several stations: list their positions in stations.csv, without --lat`,
        )
    } else if (!isPlaced || told.lat !== '') {
      const [lat, lng] = [await ask('lat', answers, path), await ask('lng', answers, path)].map(Number)
      stations.set(station, { identifier: station, name: station, lat, lng })
    }
    tables.push({ files, ...spec, ...(station !== null && { station: { is: station } }) })
    const names = alike.map((one) => basename(one.path)).join(', ')
    if (/[{*]/.test(files)) print(`${names}: later files with names such as ${files} are read, too`)
  }
  const options: TableOptions = {
    source: told.network || 'Own buoys',
    network: 'coastal',
    ...(stations.size > 0 && { stations: [...stations.values()] }),
    tables,
  }
  const proposal: Proposal = { folder, kind: isJson ? 'json' : 'table', options }
  await expectReadable(proposal, paths)
  return proposal
}

/**
 * The files in the order of the paths. Days and months of one file decide those of others with the same
 * columns.
 */
async function understandAll(paths: readonly string[], answers: Told): Promise<Understood[]> {
  const understood = new Map<string, Understood>()
  const unclear: { file: TableFile; columns: string }[] = []
  const formats = new Map<string, string>()
  for (const path of paths) {
    const file = await openFile(path)
    const { found, questions } = lookAt(file, answers)
    const columns = JSON.stringify(found.table.labels)
    if (paths.length > 1 && questions.some(({ about }) => about === 'timeFormat')) {
      unclear.push({ file, columns })
      continue
    }
    const done = await understand(file, answers)
    understood.set(path, done)
    formats.set(columns, done.layout.time.unit)
  }
  for (const { file, columns } of unclear)
    understood.set(file.path, await understand(file, answers, formats.get(columns)))
  return paths.map((path) => understood.get(path)!)
}

/** Files with the same map of columns, in the order of their first. */
function groupsOf(files: readonly Understood[]): Understood[][] {
  const groups = new Map<string, Understood[]>()
  for (const file of files) {
    const key = JSON.stringify([file.spec, typeof file.layout.station === 'number'])
    groups.set(key, [...(groups.get(key) ?? []), file])
  }
  return [...groups.values()]
}

/**
 * The names of files with one map, and their station: null where a column, or the name of each file, says it.
 */
async function namesOf(
  files: readonly Understood[],
  answers: Told,
): Promise<{ files: string; station: string | null }> {
  const names = files.map(({ path }) => basename(path).replace(/\.gz$/i, ''))
  const isNumber = (name: string): boolean => /^\d+\.[^.]*$/.test(name)
  const hasColumn = typeof files[0].layout.station === 'number'
  // A number alone is the station's unless another name is given for it.
  const isFree = hasColumn || answers.station !== ''
  const alike = [...new Set(names.map((name) => (isNumber(name) && !isFree ? name : namesLike(name))))]
  if (alike.length === 1) {
    const station = hasColumn ? null : await ask('station', answers, files[0].path, stationIn(alike[0]))
    return { files: alike[0], station }
  }
  const asOne = namesAsOne(alike, isFree ? '*' : '{station}')
  if (asOne === null)
    throw new BuildError(`${names.join(', ')}: have several endings: give them one after the other`)
  return { files: asOne, station: hasColumn || answers.station === '' ? null : answers.station }
}

async function openFile(path: string): Promise<TableFile> {
  let fault = ''
  const bytes = await readText(
    path,
    faultTaker((found) => (fault ||= found)),
  )
  if (bytes.length === 0) throw new BuildError(`${path}: ${fault === '' ? 'it is empty' : fault}`)
  expectNoKnownKind(path, bytes.toString('utf8', 0, 4096))
  return { path, bytes, isJson: /\.json(?:\.gz)?$/i.test(path) }
}

const faultTaker = (take: (fault: string) => void): FileReport => ({
  ...UNCOUNTED,
  bad: (line, reason) => take(`line ${line}: ${reason}`),
})

const MOST_QUESTIONS = 40

/** Looks at a table until everything is known. `format` is that of a table with the same columns. */
async function understand(file: TableFile, answers: Told, format = ''): Promise<Understood> {
  const passed = new Set<string>()
  for (let turn = 0; ; turn++) {
    const { found, layout, doubts, questions } = lookAt(file, answers, format)
    const open = turn === MOST_QUESTIONS ? undefined : questions.find((one) => isOpen(one, answers, passed))
    if (open !== undefined) {
      await askAbout(open, answers, file.path, passed)
      continue
    }
    if (typeof layout === 'string')
      throw new BuildError(`${file.path}: ${layout}${headerHint(found, layout)}`)
    const spec = specOf(found, layout, answers, file.isJson)
    const final = finalOf(file, spec)
    expectUsed(file, final, answers)
    print(`${file.path}:`)
    for (const line of [...new Set(doubts), ...rowsInWords(final.found, final.layout)]) print(`  ${line}`)
    return { ...file, spec, layout }
  }
}

/** The table as a build reads it by its map. @throws BuildError where it does not understand it */
function finalOf(file: TableFile, spec: TableSpec): { found: FoundTable; layout: Layout } {
  const [found] = tablesOf(file, spec, false)
  const layout = found === undefined ? 'no table is found' : layoutOf(found, new Map(), () => undefined)
  if (typeof layout === 'string')
    throw new BuildError(
      `${file.path}: is not understood by its own map: ${layout}; correct it, or report it`,
    )
  return { found, layout }
}

/** A first line of values shows that the file has no header. */
function headerHint({ table }: FoundTable, problem: string): string {
  const isRow = problem.startsWith('no column is the time') && table.labels.some((label) => /^\d/.test(label))
  if (isRow || problem.startsWith('no line names the columns'))
    return '. If the first line is none of names, give --no-header and the numbers of columns: --column time=1 --column significantHeight=2'
  return problem.includes('in "time"') ? ': --column time=NAME' : ''
}

function lookAt(file: TableFile, answers: Told, format = ''): Look {
  let fault = ''
  const told = { ...answers, 'time-format': answers['time-format'] || format }
  const known = specTold(told, file.isJson)
  const look = (spec: TableSpec): Look | null => {
    const [found] = tablesOf(file, spec, true, (text) => (fault ||= text))
    if (found === undefined) return null
    const doubts: string[] = []
    const questions: Question[] = []
    const layout = layoutOf(
      found,
      new Map(),
      (kind, example) => {
        if (kind === 'unexplainedFlags') return
        doubts.push(...(kind === 'columns' ? example.split('; ') : [`${DOUBTS[kind].what}: ${example}`]))
      },
      (question) => void questions.push(question),
    )
    return { found, layout, doubts, questions }
  }
  const first = look(known)
  const hasRow = (first?.found.look?.() ?? first?.found.table)?.next() ?? false
  if (first === null || !hasRow)
    throw new BuildError(`${file.path}: ${fault === '' ? 'no row follows the header' : fault}`)
  const units = unitsOf(answers, first.found)
  const flags = flagColumns(first)
  if (answers['good-flags'] === '' || flags.length === 0) return look({ ...known, ...units }) ?? first
  const good = Object.fromEntries(flags.map((label) => [label, answers['good-flags'].split(',')]))
  return look({ ...known, ...units, flags: good }) ?? first
}

/** Columns of flags, with a known meaning or without one. */
function flagColumns({ found: { table }, layout, questions }: Look): string[] {
  const asked = questions.filter(({ about }) => about === 'flags').map(({ column }) => column)
  const known = typeof layout === 'string' ? [] : layout.measured.flatMap(({ flags }) => flags)
  return [...new Set([...asked, ...known.map(({ field }) => table.labels[field])])]
}

/** The tables of a file by a map. `isFirst`: reads them as tables that people write. */
function tablesOf(
  { path, bytes, isJson }: TableFile,
  spec: TableSpec,
  isFirst: boolean,
  take: (fault: string) => void = () => undefined,
): FoundTable[] {
  const file = faultTaker(take)
  const [map] = compileMap(isJson ? 'json' : 'table', { tables: [spec] }).tables
  if (!isJson) return findTable(bytes, path, map, file)
  const document = parseDocument(bytes, file)
  // Without values the keys of the rows are the names of columns.
  const form = isFirst ? { ...map, ...rowsIn(document), values: undefined } : map
  const open = (): FoundTable['table'][] => openJson(document, form as typeof map, file)
  const found = (isFirst ? { ...form, values: map.values } : map) as typeof map
  return open().map((table) => {
    const look = (): FoundTable['table'] => {
      const [again] = open()
      // Columns that options name by their places come after those of the rows.
      for (const place of table.places!) again.column(place)
      return again
    }
    return { table, map: found, path, info: new Map(), look: isFirst ? look : null }
  })
}

/** The place of the longest list of objects in a document, or of lists below one of names. */
function rowsIn(document: unknown): Pick<TableSpec, 'rows' | 'header'> {
  let best: Pick<TableSpec, 'rows' | 'header'> = { rows: '' }
  let most = 0
  const walk = (value: unknown, rows: string, depth: number): void => {
    if (depth === 0) return
    if (Array.isArray(value)) {
      const isHeaded = Array.isArray(value[0]) && value[0].every((name) => typeof name === 'string')
      const { length } = isHeaded ? value : value.filter(isObject)
      if (length > most) best = { rows, ...(isHeaded && { header: `${rows}/0` }) }
      most = Math.max(most, length)
      return
    }
    if (!isObject(value)) return
    for (const [key, below] of Object.entries(value)) walk(below, `${rows}/${escaped(key)}`, depth - 1)
  }
  walk(document, '', 8)
  return best
}

function timeOf(answers: Told): NonNullable<TableSpec['time']> | null {
  const zone = answers['time-zone']
  const unit = answers['time-format']
  const isPlace = zone !== 'UTC' && isZone(zone)
  const offset = zone === 'UTC' ? '+00:00' : zone
  const told = isPlace ? { zone } : { offset }
  const at = columnsTold(answers, 'time')
  const [first, ...more] = at
  if (zone === '' && unit === '' && first === undefined) return null
  return {
    ...(first !== undefined && { at: more.length === 0 ? first : at }),
    ...(unit !== '' && { unit }),
    ...(zone !== '' && told),
  }
}

/** The pairs of an option such as `--column time=Date`. @throws BuildError for one without a known word */
function pairsOf(option: string, texts: readonly string[], known: readonly string[]): [string, string][] {
  return texts.map((text) => {
    const [, what = '', where = ''] = /^([^=]*)=(.+)$/.exec(text) ?? []
    if (where === '') throw new BuildError(`--${option}: expected ${known[0]}=…, not ${JSON.stringify(text)}`)
    if (!known.includes(what)) throw new BuildError(`--${option}: unknown ${unknownWord(what, known)}`)
    return [what, where]
  })
}

/** Columns by `--column`: names, or numbers from 1. */
function columnsTold({ column }: Pick<Told, 'column'>, wanted: string): At[] {
  const pairs = pairsOf('column', column, COLUMN_WORDS).filter(([what]) => what === wanted)
  return pairs.map(([, where]) => (/^\d{1,4}$/.test(where) ? Number(where) : where))
}

/** The map as far as options say it. */
function specTold(answers: Told, isJson: boolean): TableSpec {
  const time = timeOf(answers)
  const values: NonNullable<TableSpec['values']> = {}
  const units = new Map(pairsOf('unit', answers.unit, MEASURE_NAMES))
  for (const name of MEASURE_NAMES) {
    const [at] = columnsTold(answers, name)
    const unit = units.get(name)
    if (at !== undefined) values[name] = { at, ...(unit !== undefined && { unit }) }
  }
  const roles = ROLES.filter((role) => role !== 'time').flatMap((role) =>
    columnsTold(answers, role).map((at) => [role, at] as const),
  )
  return {
    ...(time !== null && { time }),
    ...(answers.station !== '' && { station: { is: answers.station } }),
    ...Object.fromEntries(roles),
    ...(Object.keys(values).length > 0 && { values }),
    ...(!isJson && formTold(answers)),
  }
}

/** How the text of a table is written, by options. */
function formTold({
  encoding,
  delimiter,
  'no-header': isHeaderless,
}: Told): Pick<TableSpec, 'encoding' | 'delimiter' | 'header'> {
  const known = DELIMITERS[delimiter as keyof typeof DELIMITERS]
  return {
    ...(encoding !== '' && { encoding }),
    ...(delimiter !== '' && { delimiter: known }),
    ...(isHeaderless && { header: false as const }),
  }
}

/** Units that `--unit` gives to columns that are found by their names. */
function unitsOf(answers: Told, { table, map }: FoundTable): Pick<TableSpec, 'values'> {
  const values = { ...map.values }
  for (const [word, unit] of pairsOf('unit', answers.unit, MEASURE_NAMES)) {
    const name = word as MeasureName
    const field = table.labels.findIndex((label) => readHeaderCell(label).meaning?.name === name)
    const at = values[name]?.at ?? (field < 0 ? undefined : table.labels[field])
    if (at === undefined)
      throw new BuildError(
        `--unit ${name}=${unit}: no column is known to be ${name}; name it: --column ${name}=NAME`,
      )
    values[name] = { ...values[name], at, unit }
  }
  return Object.keys(values).length === 0 ? {} : { values }
}

/** The map of a table with all that was recognised, so that a file with other names is refused. */
function specOf({ table, map }: FoundTable, layout: Layout, answers: Told, isJson: boolean): TableSpec {
  const { labels, units, written, places } = table
  const placeOf = (field: number): At => {
    if (places !== undefined) return places[field]
    return answers['no-header'] || written[field] === '' || labels.indexOf(labels[field]) !== field
      ? field + 1
      : labels[field]
  }
  const values: NonNullable<TableSpec['values']> = {}
  for (const { field, column } of layout.measured) {
    const usual = units[field] === '' || isJson ? units[field] || MEASURES[column.name].unit : undefined
    const unit = map.values?.[column.name]?.unit ?? usual
    values[column.name] = { at: placeOf(field), ...(unit !== undefined && { unit }) }
  }
  const [first, ...more] = layout.time.fields.map(placeOf)
  const { unit } = layout.time
  const { offset, zone } = timeOf(answers) ?? {}
  const isCount = timeUnit(unit) !== null
  const { station, lat, lng, name } = layout
  const roles = { station, lat, lng, name }
  const isTold = (role: string): boolean => isJson || columnsTold(answers, role).length > 0
  const named = Object.entries(roles).flatMap(([role, field]) =>
    typeof field === 'number' && field >= 0 && isTold(role) ? [[role, placeOf(field)] as const] : [],
  )
  return {
    ...(isJson && { rows: map.rows ?? '', ...(map.header !== undefined && { header: map.header }) }),
    ...Object.fromEntries(named),
    time: {
      at: more.length === 0 ? first : [first, ...more],
      unit,
      ...(!isCount && offset !== undefined && { offset }),
      ...(!isCount && zone !== undefined && { zone }),
    },
    values,
    ...(map.flags !== undefined && { flags: map.flags }),
    ...(!isJson && formTold(answers)),
  }
}

/** @throws BuildError for an option that says nothing about the table */
function expectUsed(
  { path, bytes }: TableFile,
  { found, layout }: { found: FoundTable; layout: Layout },
  told: Told,
): void {
  const nothing = (option: string, why: string): never => {
    throw new BuildError(`${path}: --${option} changes nothing: ${why}; leave it out`)
  }
  if (told['good-flags'] !== '' && found.map.flags === undefined)
    nothing('good-flags', 'no column is of flags')
  if (told['time-zone'] !== '' && timeUnit(layout.time.unit) !== null)
    nothing('time-zone', `the times are ${layout.time.unit}`)
  if (told.encoding !== '' && bytes.toString('utf8') === new TextDecoder(told.encoding).decode(bytes))
    nothing('encoding', 'the text is the same in UTF-8')
}

const isOpen = ({ about, column }: Question, answers: Told, passed: ReadonlySet<string>): boolean => {
  const option = OPTION_OF[about]
  return option === undefined ? !passed.has(column) : answers[option] === ''
}

/** Asks at a terminal; elsewhere it says what to add. @throws BuildError for a necessary answer */
async function askAbout(
  { about, column, why, can: meanings }: Question,
  answers: Told,
  path: string,
  passed: Set<string>,
): Promise<void> {
  const option = OPTION_OF[about]
  if (option !== undefined) {
    await ask(option, answers, path, '', why)
    return
  }
  passed.add(column)
  if (about === 'time') {
    if (!process.stdin.isTTY) return
    print(`${path}: ${why}`)
    const time = await atTerminal(`${path}: which column is the time?`, '', /./)
    answers.column = [...answers.column, `time=${time}`]
    return
  }
  print(`${path}: ${why}`)
  const isUnit = about === 'unit'
  // A mean period is given as the period; currents are not read.
  const can = meanings
    .map((word) => (word === 'meanPeriod' ? 'period' : word))
    .filter((word) => (COLUMN_WORDS as readonly string[]).includes(word))
  if (!process.stdin.isTTY) {
    const options = can.map((word) => (isUnit ? `--unit ${word}=UNIT` : `--column ${word}='${column}'`))
    print(`  ${column} is not read; to say what it is: ${options.join(' or ')}`)
    return
  }
  const words = isUnit ? 'a unit such as m/s' : can.join(', ')
  const fits = isUnit ? /./ : new RegExp(`^(?:${can.join('|')}|nothing)$`)
  const meant = await atTerminal(`${path}: what is ${column} (${words} or nothing)?`, 'nothing', fits)
  if (meant === 'nothing') return
  if (isUnit) answers.unit = [...answers.unit, `${can[0]}=${meant}`]
  else answers.column = [...answers.column, `${meant}=${column}`]
}

async function atTerminal(question: string, usual: string, fits: RegExp): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    for (;;) {
      const answer =
        (await terminal.question(`${question}${usual === '' ? '' : ` [${usual}]`} `)).trim() || usual
      if (fits.test(answer)) return answer
    }
  } finally {
    terminal.close()
  }
}

/** A fact from an option, or from an answer at the terminal. @throws BuildError without either */
async function ask(
  name: QuestionName,
  answers: Told,
  path: string,
  usual = '',
  problem = '',
): Promise<string> {
  const [what, fits] = QUESTIONS[name]
  if (answers[name] === '') {
    if (problem !== '') print(`${path}: ${problem}`)
    if (process.stdin.isTTY) return (answers[name] = await atTerminal(`${path}: ${what}?`, usual, fits))
    if (usual === '')
      throw new BuildError(
        `${path}: ${problem === '' ? 'it does not say' : 'give'} ${what}: --${name}${name === 'lat' && answers.lng === '' ? ' and --lng' : ''}`,
      )
    // Each file may have a station of its own, so one name is no answer for all.
    return usual
  }
  if (!fits.test(answers[name])) throw new BuildError(`--${name}: expected ${what}`)
  return answers[name]
}

/** A network's clock may be ahead of ours by so much. */
const CLOCK_TOLERANCE_S = 3600

/** Reads all as a build would, and shows the stations. @throws BuildError where a build would read little */
async function expectReadable({ folder, kind, options }: Proposal, paths: readonly string[]): Promise<void> {
  const now = clock()
  const { files, stations, placeless } = await tryOut(openKind(kind, folder, { ...options }), now)
  for (const path of paths) {
    const { rows, bad, fault } = files.get(join(folder, basename(path))) ?? {
      rows: 0,
      bad: 0,
      fault: 'is not read',
    }
    if (rows === 0 || bad * 10 > bad + rows)
      throw new BuildError(
        `${path}: ${counted(rows, 'row')} can be read, and ${counted(bad, 'line')} cannot; ${fault}`,
      )
  }
  if (placeless.length > 0)
    throw new BuildError(
      `no position is known of ${placeless.slice(0, 5).join(', ')}: list it in ${join(folder, STATION_LIST)} (identifier,name,lat,lng), or give --lat and --lng`,
    )
  const first = Math.min(...stations.map((station) => station.first))
  if (first > now + CLOCK_TOLERANCE_S && first < Infinity)
    throw new BuildError(
      `all times are in the future (the first is ${new Date(first * 1000).toISOString()}): give their format, --time-format`,
    )
  for (const station of stations.slice(0, STATIONS_SHOWN)) print(stationInWords(station))
  if (stations.length > STATIONS_SHOWN)
    print(`and ${counted(stations.length - STATIONS_SHOWN, 'more station')}`)
}

const STATIONS_SHOWN = 5
