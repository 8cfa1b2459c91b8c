/**
 * `init`: writes a configuration to begin with: of NDBC, of the operator's own tables, or of a kind's
 * example.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { data } from '../server/serve-settings.ts'
import {
  type ConfigOf,
  flag,
  last,
  optional,
  oneOf,
  orNull,
  several,
  type Setting,
  setting,
  text,
} from '../server/setting.ts'
import { KINDS } from '../sources/kinds.ts'
import { BuildError } from '../system/build-error.ts'
import { BUILD_SETTINGS } from './build-settings.ts'
import { command, readOptions } from './command.ts'
import { makeDataFolder } from './data-folder.ts'
import { packageFolder, print } from './surroundings.ts'

const FIRST = join(packageFolder, 'data', 'examples', 'first.config.json')

const told = (placeholder: string, help: string): Setting<string> => setting(placeholder, help, '', last)

const INIT_SETTINGS = {
  config: setting('FILE', 'the file to write', 'groundswell.config.json', text),
  data,
  snapshots: BUILD_SETTINGS.out,
  table: optional('FILE', 'your own table, and more behind it: say what is recognised, and build'),
  kind: setting(
    'KIND',
    'write the example of a kind of source, with its files',
    '',
    orNull(oneOf(Object.keys(KINDS))),
  ),
  station: told('NAME', 'the station of the tables'),
  lat: told('DEGREES', 'its latitude'),
  lng: told('DEGREES', 'its longitude'),
  'time-zone': told('ZONE', 'the zone of the times: UTC, +10:00 or Australia/Brisbane'),
  'time-format': told('FORMAT', 'the format of the times, such as DD/MM/YYYY HH:mm'),
  'good-flags': told('LIST', 'the flags of good values, such as 0,1'),
  column: several(
    'WHAT=HEADER',
    'a column by its name or number: time=Date, significantHeight=3',
    (texts) => texts,
  ),
  unit: several('MEASURE=UNIT', 'the unit of a measure: significantHeight=cm', (texts) => texts),
  encoding: told('NAME', 'the encoding of the text, such as windows-1252'),
  delimiter: setting('NAME', 'what separates columns', '', (texts) =>
    last(texts) === '' ? '' : oneOf(['comma', 'semicolon', 'tab', 'blanks'])(texts),
  ),
  'no-header': flag('the first line is a row: columns have numbers'),
  network: told('NAME', 'the name of your network'),
} as const

const init = command({
  settings: INIT_SETTINGS,
  takes: '[FILE...]',
  run: async (settings, positionals) => {
    const { config, table, kind } = settings
    if (existsSync(config))
      throw new BuildError(`${config}: exists already and is not changed; name another file with --config`)
    if (table !== null) {
      await initTables([table, ...positionals], settings)
      print(`${config} is written, and a snapshot is built. Then:`)
    } else {
      write(config, kind === null ? readFileSync(FIRST) : writeExample(kind, dirname(resolve(config))))
      print(
        `${config} is written.${kind === null ? ' It loads the buoys of NDBC, without a key.' : ''} Then:`,
      )
      print(`  groundswell build --config ${config} --dry-run   shows what would be fetched`)
    }
    print(
      `  groundswell run --config ${config}               fetches, builds, serves, and again every half hour`,
    )
    print(`  groundswell doctor --config ${config}            checks that everything is ready`)
  },
})
export const COMMANDS = { init }

/** Writes a configuration of tables and builds. @throws Error without leaving anything of its own behind */
async function initTables(paths: readonly string[], settings: ConfigOf<typeof INIT_SETTINGS>): Promise<void> {
  const { config, data, snapshots } = settings
  const { proposeTables } = await import('./init-table.ts')
  const { folder, kind, options } = await proposeTables(paths, settings)
  const source = { name: options.source!, kind, folder: placeOf(folder, config), options }
  const named = data === null ? {} : { data: placeOf(resolve(data), config) }
  const made = [data, snapshots].filter((path) => path !== null && !existsSync(path))
  write(config, `${JSON.stringify({ ...named, sources: [source] }, null, 2)}\n`)
  try {
    makeDataFolder(data)
    const { runBuild } = await import('./build.ts')
    const argv = ['--config', config, '--out', snapshots]
    await runBuild(readOptions(BUILD_SETTINGS, argv).config)
  } catch (error) {
    for (const path of [config, ...made]) rmSync(path!, { recursive: true, force: true })
    throw error
  }
}

/** A folder as the configuration names it: paths there are relative to it. */
const placeOf = (folder: string, config: string): string => relative(dirname(resolve(config)), folder) || '.'

const write = (path: string, content: string | Uint8Array): void =>
  writeFileSync(path, content, { flag: 'wx' })

const FENCE = /^```(\w+)(?: file=(\S+))?\n([^]*?)^```$/gm

/** Writes the files of a kind's example in the documents below a folder, and returns its configuration. */
function writeExample(kind: string, base: string): string {
  const pages = ['networks', 'tables', 'csv', 'beyond-buoys'].map((page) => `sources-${page}.md`)
  const [section] = pages.flatMap((page) => {
    const text = readFileSync(join(packageFolder, 'docs', page), 'utf8')
    return text.split(/^## /m).filter((part) => part.startsWith(`${kind}\n`))
  })
  const blocks = [...section.matchAll(FENCE)].map(([, language, file = '', body]) => ({
    language,
    file,
    body,
  }))
  const entry = blocks.find(({ language, file }) => language === 'json' && file === '')!.body
  const source = JSON.parse(entry) as { folder?: string; fetch?: unknown }
  for (const { file, body } of blocks.filter((block) => block.file !== '')) {
    const path = join(base, source.folder ?? '', file)
    mkdirSync(dirname(path), { recursive: true })
    write(path, body)
  }
  return `${JSON.stringify({ sources: [source] }, null, 2)}\n`
}
