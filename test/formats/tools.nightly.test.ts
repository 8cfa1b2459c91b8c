/**
 * The programs that users have read what we write: a reader of Parquet by URL, pandas, GDAL and LibreOffice,
 * each against the JSON of the same request. What DuckDB reads, `bulk/export.test.ts` and `oracle.test.ts`
 * ask.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { filesIn } from '../builder/bulk/exporting.ts'
import { listening } from '../listening.ts'
import { missingPython, missingTool } from '../programs.ts'
import { startServer } from '../../tools/live_server.ts'
import { flat, parseCsv } from './parse.ts'
import type { JsonObject } from '../oracle/oracle.ts'
import { folderOfFile } from '../live.ts'

const folder = folderOfFile()
const ends: (() => Promise<void>)[] = []
after(async () => {
  for (const end of ends.toReversed()) await end()
})
const bulk = join(folder, 'bulk')
const live = await startServer(
  {
    sourceArgs: ['--source', 'demo', '--as-of', '2026-11-01T06:00:00Z', '--export', bulk],
    args: ['--engine=node'],
  },
  (end) => ends.push(end),
)
// Each on a connection of its own: while a program runs, this process does not see that the server ends one.
const headers = { authorization: `Bearer ${live.key}`, connection: 'close' }
const READINGS = '/buoys/anglet/readings'
const RANGE = 'start_date=2026-10-24&end_date=2026-10-26&order=asc'

async function get(path: string): Promise<Buffer> {
  const reply = await fetch(live.base + path, { headers })
  assert.equal(reply.status, 200, path)
  return Buffer.from(await reply.arrayBuffer())
}

async function save(path: string, name: string): Promise<string> {
  writeFileSync(join(folder, name), await get(path))
  return join(folder, name)
}

/** The readings of the range, as JSON has them. */
async function readings(): Promise<JsonObject[]> {
  const all: JsonObject[] = []
  for (let page = 1; ; page++) {
    const text = (await get(`${READINGS}?${RANGE}&per_page=100&page=${page}`)).toString()
    const { data, meta } = JSON.parse(text) as {
      data: { readings: JsonObject[] }
      meta: { total_pages: number }
    }
    all.push(...data.readings)
    if (page >= meta.total_pages) return all
  }
}

/** Runs a program to its end. @returns what it wrote */
function run(program: string, args: readonly string[], environment: { [name: string]: string } = {}): string {
  const options = { encoding: 'utf8', timeout: 300_000, env: { ...process.env, ...environment } } as const
  const { status, stdout, stderr, error } = spawnSync(program, args, options)
  assert.equal(status, 0, `${program}: ${error?.message ?? stderr}`)
  return stdout
}

/** Serves a folder as a bucket does, with ranges. @returns its address and how many bytes it has sent */
async function serveFolder(t: TestContext, root: string): Promise<{ url: string; sent: () => number }> {
  let sent = 0
  const server = createServer((request, response) => {
    const file = join(root, request.url!)
    const { size } = statSync(file)
    const [, start = '0', end = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    const last = end === '' ? size - 1 : Math.min(Number(end), size - 1)
    const length = last - Number(start) + 1
    response.writeHead(request.headers.range === undefined ? 200 : 206, {
      'Content-Length': length,
      'Content-Range': `bytes ${start}-${last}/${size}`,
    })
    if (request.method === 'HEAD') response.end()
    else {
      sent += length
      createReadStream(file, { start: Number(start), end: last }).pipe(response)
    }
  })
  return { url: `http://127.0.0.1:${await listening(t, server)}`, sent: () => sent }
}

test('Parquet is read by URL: an answer whole, a file of the bulk export in ranges.', async (t) => {
  const expected = await readings()
  const file = await (
    await fetch(`${live.base}${READINGS}?format=parquet&${RANGE}`, { headers })
  ).arrayBuffer()
  const found = await parquetReadObjects({ file })
  assert.equal(found.length, expected.length)
  found.forEach((row, i) => {
    const reading = expected[i]
    assert.equal((row['time'] as Date).toISOString().replace('.000', ''), reading['time'])
    assert.equal(row['significient_height'], reading['significient_height'])
    assert.equal(row['uuid'], reading['uuid'])
    assert.equal(row['energy_per_wave'], reading['energy_per_wave'])
  })
  const { url, sent } = await serveFolder(t, bulk)
  const path = filesIn(bulk)
    .filter((name) => name.includes('2026-10') && name.endsWith('.parquet'))
    .toSorted((a, b) => statSync(join(bulk, b)).size - statSync(join(bulk, a)).size)[0]
  const remote = await asyncBufferFromUrl({ url: `${url}/${path}` })
  const metadata = await parquetMetadataAsync(remote, { initialFetchSize: 4096 })
  const column = await parquetReadObjects({ file: remote, metadata, columns: ['buoy_id'] })
  assert.equal(column.length, Number(metadata.num_rows))
  assert.ok(sent() < remote.byteLength / 2, `${sent()} of ${remote.byteLength} bytes for one column`)
})

/** Readings of a summer in UTC, and the days of a zone that the API makes of them: the paths of the files. */
async function daysOf(zone: string): Promise<[readings: string, days: string]> {
  const season = 'start_date=2026-03-20T12:00:00Z&end_date=2026-10-31T12:00:00Z&order=asc&format=csv'
  const local = `bucket=1d&aggregation=max&timezone=${encodeURIComponent(zone)}`
  return [
    await save(`${READINGS}?${season}`, 'season.csv'),
    await save(`${READINGS}?${season}&${local}`, 'days.csv'),
  ]
}

const DAY_ZONES =
  'Europe/Paris America/St_Johns Antarctica/Troll Pacific/Chatham Australia/Lord_Howe Asia/Kathmandu Africa/Casablanca America/Nuuk'.split(
    ' ',
  )
const SUMMER_DAYS = 226

test(
  'pandas groups readings to the same days of a zone.',
  { skip: missingPython('pandas', 'python3-pandas') },
  async () => {
    const script = `
import sys, pandas as pd
readings, days, zone = sys.argv[1:]
rows = pd.read_csv(readings, parse_dates=["time"])
label = rows.time.dt.tz_convert(zone).dt.strftime("%Y-%m-%d")
own = rows.groupby(label).significient_height.agg(["count", "max"])
api = pd.read_csv(days).set_index("label")
assert list(own.index) == list(api.index), "other days"
assert (own["count"] == api.sample_count).all(), "other counts"
assert (own["max"].round(2) == api.significient_height).all(), "other heights"
starts = pd.to_datetime(api.time, utc=True).dt.tz_convert(zone).dt.strftime("%Y-%m-%d")
assert (starts == api.index).all(), "other begins"
assert list(api.index[api.partial]) == [api.index[0], api.index[-1]], "other cuts"
print(len(api))
`
    for (const zone of DAY_ZONES) {
      const days = Number(run('/usr/bin/python3', ['-c', script, ...(await daysOf(zone)), zone]))
      assert.ok(days === SUMMER_DAYS || days === SUMMER_DAYS + 1, `${zone}: ${days}`)
    }
  },
)

test(
  'R groups readings to the same days of a zone.',
  { skip: missingTool('Rscript', 'r-base-core') },
  async () => {
    const script = `
args <- commandArgs(TRUE)
rows <- read.csv(args[1])
times <- as.POSIXct(rows$time, format = "%Y-%m-%dT%H:%M:%SZ", tz = "UTC")
label <- format(times, "%Y-%m-%d", tz = args[3])
api <- read.csv(args[2])
counts <- table(label)
stopifnot(identical(names(counts), api$label))
stopifnot(all(as.integer(counts) == api$sample_count))
stopifnot(all(round(tapply(rows$significient_height, label, max), 2) == api$significient_height))
cat(nrow(api))
`
    for (const zone of DAY_ZONES) {
      const days = Number(run('Rscript', ['-e', script, ...(await daysOf(zone)), zone]))
      assert.ok(days === SUMMER_DAYS || days === SUMMER_DAYS + 1, `${zone}: ${days}`)
    }
  },
)

test(
  'pandas reads CSV with dates as the API says them.',
  { skip: missingPython('pandas', 'python3-pandas') },
  async () => {
    const expected = await readings()
    const file = await save(`${READINGS}?format=csv&${RANGE}`, 'pandas.csv')
    const script = `
import json, sys, pandas as pd
frame = pd.read_csv(sys.argv[1], parse_dates=["time"])
print(json.dumps({
  "types": {name: str(kind) for name, kind in frame.dtypes.items()},
  "times": [int(moment.timestamp()) for moment in frame.time],
  "heights": [float(value) for value in frame.significient_height],
  "missing": int(frame.water_temperature.isna().sum()),
  "daily": {str(day.date()): round(value, 6) for day, value in frame.set_index("time").significient_height.resample("1D").max().items()},
}))`
    const found = JSON.parse(run('/usr/bin/python3', ['-c', script, file])) as {
      types: { [name: string]: string }
      times: number[]
      heights: number[]
      missing: number
      daily: { [day: string]: number }
    }
    assert.equal(found.types['time'], 'datetime64[ns, UTC]')
    assert.equal(found.types['id'], 'int64')
    assert.equal(found.types['significient_height'], 'float64')
    assert.deepEqual(
      found.times,
      expected.map(({ time }) => Date.parse(time as string) / 1000),
    )
    assert.deepEqual(
      found.heights,
      expected.map((reading) => reading['significient_height']),
    )
    assert.equal(found.missing, expected.filter((reading) => reading['water_temperature'] === null).length)
    const highest = new Map<string, number>()
    for (const reading of expected) {
      const day = (reading['time'] as string).slice(0, 10)
      highest.set(day, Math.max(highest.get(day) ?? 0, reading['significient_height'] as number))
    }
    assert.deepEqual(found.daily, Object.fromEntries(highest))
  },
)

test(
  'GDAL reads GeoJSON: every buoy where it is, with its members.',
  { skip: missingTool('ogrinfo', 'gdal-bin') },
  async () => {
    const { data } = JSON.parse((await get('/buoys/map')).toString()) as { data: { buoys: JsonObject[] } }
    const file = await save('/buoys/map?format=geojson', 'buoys.geojson')
    const summary = run('ogrinfo', ['-so', '-al', file])
    assert.match(summary, /Geometry: Point/)
    assert.match(summary, /WGS 84/)
    assert.match(summary, new RegExp(`Feature Count: ${data.buoys.length}`))
    const out = join(folder, 'gdal.csv')
    run('ogr2ogr', ['-f', 'CSV', out, file, '-lco', 'GEOMETRY=AS_XY', '-lco', 'LINEFORMAT=CRLF'])
    const [names, ...lines] = parseCsv(readFileSync(out, 'utf8'))
    const cell = (line: string[], name: string): string => line[names.indexOf(name)]
    assert.equal(lines.length, data.buoys.length)
    data.buoys.forEach((buoy, i) => {
      const line = lines[i]
      const members = flat(buoy)
      assert.deepEqual([Number(cell(line, 'X')), Number(cell(line, 'Y'))], [buoy['lng'], buoy['lat']])
      assert.equal(Number(cell(line, 'id')), members.get('id'))
      assert.equal(cell(line, 'name'), members.get('name'))
    })
    const passes = await save(
      '/buoys/satellite_passes?limit=100&active_only=false&format=geojson',
      'passes.geojson',
    )
    assert.match(run('ogrinfo', ['-so', '-al', passes]), /Feature Count: \d\d/)
  },
)

/** As docs/formats.md has them. */
const RECIPE = /`soffice --convert-to ods --infilter=([^ `]+) FILE\.csv`/
const MOMENT = /`(=DATEVALUE[^`]+)`/
/** Of days that spreadsheets count: 1970-01-01. */
const EPOCH_DAY = 25_569

test(
  'LibreOffice opens CSV with right numbers, empty cells and, by the formula that we document, right dates.',
  { skip: missingTool('soffice', 'libreoffice-calc-nogui'), timeout: 300_000 },
  async () => {
    const page = readFileSync('docs/formats.md', 'utf8')
    const filter = RECIPE.exec(page)![1]
    const formula = MOMENT.exec(page)![1]
    const expected = (await readings()).slice(0, 200)
    const [names, ...lines] = (await get(`${READINGS}?format=csv&${RANGE}`))
      .toString()
      .trimEnd()
      .split('\r\n')
    assert.equal(names.split(',').indexOf('time'), 'ABCDEF'.indexOf('F'), 'the formula is about column F')
    const rows = lines.slice(0, expected.length).map((line, i) => {
      // A file's formulas have commas, and the dialogue's a semicolon.
      const own = formula.replaceAll(';', ',').replaceAll('F2', `F${i + 2}`)
      return `${line},"${own}"`
    })
    writeFileSync(join(folder, 'sheet.csv'), `${[`${names},moment`, ...rows].join('\r\n')}\r\n`)
    // The last of these options has formulas in a file worked out, as those that are typed in are.
    const options = `--infilter=${filter},false,false,false,false,false,0,true`
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`
    const args = [
      profile,
      '--headless',
      '--convert-to',
      'fods',
      '--outdir',
      folder,
      options,
      join(folder, 'sheet.csv'),
    ]
    // Elsewhere than in UTC, too.
    run('soffice', args, { TZ: 'America/New_York', HOME: folder })
    const sheet = cellsOf(readFileSync(join(folder, 'sheet.fods'), 'utf8'))
    assert.equal(sheet.length, rows.length + 1)
    const header = sheet[0].map(({ text }) => text)
    expected.forEach((reading, i) => {
      const cell = (name: string): Cell => sheet[i + 1][header.indexOf(name)]
      for (const name of ['id', 'significient_height', 'period', 'water_temperature', 'energy_per_wave']) {
        assert.deepEqual(cell(name).value, reading[name], `${name} of row ${i}`)
      }
      assert.equal(cell('uuid').text, reading['uuid'])
      const seconds = Math.round((cell('moment').value! - EPOCH_DAY) * 86400)
      assert.equal(seconds, Date.parse(reading['time'] as string) / 1000)
    })
  },
)

interface Cell {
  /** Null where the cell is no number. */
  value: number | null
  text: string
}

/** The cells of each row of a flat OpenDocument sheet. */
function cellsOf(xml: string): Cell[][] {
  return [...xml.matchAll(/<table:table-row[^>]*>([^]*?)<\/table:table-row>/g)].flatMap(([, row]) => {
    const cells: Cell[] = []
    for (const [, attributes, , inner = ''] of row.matchAll(
      /<table:table-cell((?:\s[^>]*?)?)(\/>|>([^]*?)<\/table:table-cell>)/g,
    )) {
      const repeated = Number(/number-columns-repeated="(\d+)"/.exec(attributes)?.[1] ?? 1)
      const value = / office:value="([^"]*)"/.exec(attributes)?.[1]
      const text = /<text:p>([^<]*)<\/text:p>/.exec(inner)?.[1] ?? ''
      for (let i = 0; i < repeated; i++)
        cells.push({ value: value === undefined ? null : Number(value), text })
    }
    return cells.length > 1 ? [cells] : []
  })
}
