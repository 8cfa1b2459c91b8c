/**
 * Sources that are made to hurt whoever reads them. Each build ends in time and within its memory, and the
 * other source is published.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { familyMegabytes } from '../http/servers.ts'
import { amount, type Attack, type Finding, type Target } from './attack.ts'
import { until } from './crowd.ts'

const GOOD_FOLDER = fileURLToPath(new URL('../../data/fixtures/small', import.meta.url))
/** A network of the good source. */
const GOOD_NETWORK = 'Northwatch'
const SAMPLE_MS = 100

interface HostileSource {
  kind: string
  /** Puts the source's files into a folder. */
  make: (folder: string) => void
  options?: object
  /** Texts that must not come out: what elsewhere on this machine is not the source's. */
  secrets?: () => string[]
}

interface Built {
  /** Code or signal that it ended with; null where it did not end in time. */
  ended: number | string | null
  seconds: number
  /** MB, of the build and all that it started. */
  peak: number
  /** Whether the good source is in what was published. */
  isGoodThere: boolean
  /** Whether one of the secrets is in what was said or published. */
  leaks: boolean
  output: string
}

/** Runs one build in a place of its own, which is gone afterwards. */
async function buildBeside(cli: string, hostile: HostileSource, limitMs: number): Promise<Built> {
  const place = mkdtempSync(join(tmpdir(), 'groundswell-attack-build-'))
  try {
    const folder = join(place, 'hostile')
    mkdirSync(folder)
    hostile.make(folder)
    const sources = [
      { name: 'good', kind: 'csv', folder: GOOD_FOLDER },
      {
        name: 'hostile',
        kind: hostile.kind,
        folder,
        ...(hostile.options === undefined ? {} : { options: hostile.options }),
      },
    ]
    const config = join(place, 'groundswell.config.json')
    writeFileSync(config, JSON.stringify({ sources }))
    const out = join(place, 'out')
    const began = performance.now()
    const built = await runBounded([cli, 'build', '--config', config, '--out', out], limitMs)
    const seconds = (performance.now() - began) / 1000
    const { status, stdout } = spawnSync(process.execPath, [cli, 'inspect', out], { encoding: 'utf8' })
    const secrets = hostile.secrets?.() ?? []
    const published = secrets.length === 0 || !existsSync(out) ? [] : readdirSync(out)
    const leaks = [Buffer.from(built.output), ...published.map((file) => readFileSync(join(out, file)))].some(
      (bytes) => secrets.some((secret) => bytes.includes(secret)),
    )
    return { ...built, seconds, isGoodThere: status === 0 && stdout.includes(GOOD_NETWORK), leaks }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

async function runBounded(
  args: readonly string[],
  limitMs: number,
): Promise<{ ended: number | string | null; peak: number; output: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < 1e6) output += chunk
    })
  }
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, familyMegabytes(child.pid!))), SAMPLE_MS)
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  await until(hasEnded, limitMs)
  clearInterval(timer)
  const ended = child.exitCode ?? child.signalCode
  if (ended === null) child.kill('SIGKILL')
  return { ended, peak, output }
}

const NETCDF_FOLDER = fileURLToPath(new URL('../../data/fixtures/hostile/netcdf', import.meta.url))

/** A build with one hostile source of the largest size that is read at all. */
const BUILD_LIMIT_MS = 240_000
/** MB, of the build and what it starts. */
const MEMORY_LIMIT = 2048

const MB = 1e6

interface Bomb extends HostileSource {
  name: string
}

const JSON_COLUMNS = {
  source: 'Hostile',
  network: 'coastal',
  tables: [
    {
      rows: '/rows',
      station: '/id',
      lat: '/lat',
      lng: '/lng',
      time: { at: '/time', unit: 'UTC' },
      values: { significantHeight: { at: '/h', unit: 'm' } },
    },
  ],
}

/** So many bytes of `piece`, in members of a gzip file: 1,000 times smaller on the disk. */
function gzipOf(piece: string, bytes: number): Buffer {
  const member = gzipSync(piece.repeat(Math.ceil((16 * MB) / piece.length)))
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / (16 * MB)) }, () => member))
}

const mkfifo = (path: string): void => void spawnSync('mkfifo', [path])

const csvWith =
  (make: (readings: string) => void) =>
  (folder: string): void => {
    cpSync(GOOD_FOLDER, folder, { recursive: true })
    writeFileSync(join(folder, 'sources.csv'), 'name,network\nHostile,coastal\n')
    writeFileSync(join(folder, 'buoys.csv'), 'source,identifier,name,lat,lng\nHostile,h1,Hostile One,43,-2\n')
    make(join(folder, 'readings'))
  }

const jsonOf = (text: string | Buffer, file = 'rows.json'): Omit<Bomb, 'name'> => ({
  kind: 'json',
  options: JSON_COLUMNS,
  make: (folder) => writeFileSync(join(folder, file), text),
})

const BOMBS: readonly (() => Bomb)[] = [
  () => ({ name: '64 MB of empty rows in JSON', ...jsonOf(`{"rows":[${'{},'.repeat(21_000_000)}{}]}`) }),
  () => ({ name: '64 MB of nested lists in JSON', ...jsonOf(`{"rows":${'['.repeat(64 * MB)}`) }),
  () => ({ name: '32 million lists in JSON', ...jsonOf(`{"rows":[${'[],'.repeat(20_000_000)}[]]}`) }),
  () => ({ name: '2 GB of JSON in 2 MB', ...jsonOf(gzipOf('[[],[]],', 2000 * MB), 'rows.json.gz') }),
  () => ({
    name: '64 MB of nested XML',
    kind: 'ndbc',
    make: (folder) => {
      mkdirSync(join(folder, 'realtime2'))
      writeFileSync(
        join(folder, 'realtime2', '41001.txt'),
        '#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS PTDY  TIDE\n',
      )
      writeFileSync(join(folder, 'activestations.xml'), '<a>'.repeat(22 * MB))
    },
  }),
  () => ({
    name: 'a billion laughs in XML',
    kind: 'ndbc',
    make: (folder) => {
      mkdirSync(join(folder, 'realtime2'))
      const entities = Array.from(
        { length: 12 },
        (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`,
      ).join('')
      writeFileSync(
        join(folder, 'activestations.xml'),
        `<!DOCTYPE s [<!ENTITY e0 "ha">${entities}]><stations><station id="41001" lat="30" lon="-70" name="&e12;"/></stations>`,
      )
    },
  }),
  () => ({
    name: '20 GB of one line of CSV in 20 MB',
    kind: 'csv',
    make: csvWith((readings) => writeFileSync(join(readings, 'x.csv.gz'), gzipOf('9', 20_000 * MB))),
  }),
  () => ({
    name: '5 GB of bad lines of CSV in 5 MB',
    kind: 'csv',
    make: csvWith((readings) => writeFileSync(join(readings, 'x.csv.gz'), gzipOf('a,b\n', 5000 * MB))),
  }),
  () => ({ name: 'a pipe', kind: 'csv', make: csvWith((readings) => mkfifo(join(readings, 'x.csv'))) }),
  () => ({
    name: 'a device that never ends',
    kind: 'csv',
    make: csvWith((readings) => symlinkSync('/dev/zero', join(readings, 'x.csv'))),
  }),
  () => ({
    name: 'a pipe of JSON',
    kind: 'json',
    options: JSON_COLUMNS,
    make: (folder) => mkfifo(join(folder, 'rows.json')),
  }),
  () => ({
    name: 'a folder that holds itself',
    kind: 'ndbc',
    make: (folder) => {
      mkdirSync(join(folder, 'latest_obs'))
      symlinkSync('..', join(folder, 'latest_obs', 'again'))
    },
  }),
  () => ({
    name: 'NetCDF that points elsewhere',
    kind: 'cmems',
    make: (folder) => cpSync(NETCDF_FOLDER, folder, { recursive: true }),
    secrets: () =>
      Object.values(process.env).filter((value) => value !== undefined && value.length > 12) as string[],
  }),
  () => ({
    name: 'noise that says it is NetCDF',
    kind: 'cmems',
    make: (folder) => {
      const noise = Buffer.alloc(32 * MB, 'noise of a sea that nobody has measured')
      for (const [name, magic] of [
        ['hdf', '\x89HDF\r\n\x1a\n'],
        ['classic', 'CDF\x01'],
      ]) {
        writeFileSync(join(folder, `${name}.nc`), Buffer.concat([Buffer.from(magic, 'latin1'), noise]))
      }
    },
  }),
]

async function explode({ cli }: Target, bombs: readonly (() => Bomb)[]): Promise<Finding> {
  const faults: string[] = []
  const told: string[] = []
  for (const make of bombs) {
    const bomb = make()
    const { ended, seconds, peak, isGoodThere, leaks, output } = await buildBeside(cli, bomb, BUILD_LIMIT_MS)
    const what = `${bomb.name} (${seconds.toFixed(0)} s, ${Math.round(peak)} MB)`
    told.push(what)
    const last = output.trimEnd().split('\n').at(-1)?.slice(0, 200)
    if (ended === null) faults.push(`${what}: not over`)
    else if (ended !== 0) faults.push(`${what}: the build ended with ${ended}: ${last}`)
    else if (!isGoodThere) faults.push(`${what}: ${GOOD_NETWORK} is not published`)
    if (peak > MEMORY_LIMIT) faults.push(`${what}: above ${MEMORY_LIMIT} MB`)
    if (leaks) faults.push(`${what}: tells a secret`)
  }
  return { did: told.join(', '), faults }
}

/** Those that are over in a second or two, for a short run. */
const QUICK = 5

export const SOURCES: readonly Attack[] = [
  {
    name: 'bombs',
    about: `${BOMBS.length} builds with a good source and a hostile one`,
    anyEngine: true,
    run: (target, scale) =>
      explode(target, scale === 1 ? BOMBS : BOMBS.slice(-Math.max(QUICK, amount(BOMBS.length, scale)))),
  },
]
