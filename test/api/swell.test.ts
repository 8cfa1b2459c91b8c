/** The sea in its two parts on its way from NDBC's and Copernicus' files into readings. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCmems } from '../../src/sources/cmems.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, catalogOf } from '../builder/fake_source.ts'
import { Chance } from '../chance.ts'
import { temporaryFolder } from '../live.ts'
import { timesOf, variable, type Variable, writePlatform } from '../sources/netcdf_file.ts'

const MEMBERS = [
  ...'swell_height swell_period swell_direction wind_wave_height wind_wave_period'.split(' '),
  ...'wind_wave_direction'.split(' '),
]
type Parts = (number | null)[]
const NONE: Parts = MEMBERS.map(() => null)

const TXT_HEADER =
  '#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS PTDY  TIDE\n'
const SPEC_HEADER = `#YY  MM DD hh mm WVHT  SwH  SwP  WWH  WWP SwD WWD  STEEPNESS  APD MWD
#yr  mo dy hr mn    m    m  sec    m  sec  -  degT     -      sec degT
`
const POINTS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')

/** The parts in a line of a summary, read the plain way. */
function partsOf(line: string): Parts {
  const cells = line.trim().split(/ +/)
  const number = (at: number): number | null => (cells[at] === 'MM' ? null : Number(cells[at]))
  const degrees = (at: number): number | null =>
    cells[at] === 'MM' ? null : POINTS.indexOf(cells[at]) * 22.5
  return [number(6), number(7), degrees(10), number(8), number(9), degrees(11)]
}

interface Station {
  txt: string
  spec: string
  /** By epoch seconds of the reading. */
  expected: Map<number, Parts>
}

const clock = (time: number): string => {
  const [date, hour] = new Date(time * 1000).toISOString().split('T')
  return `${date.replaceAll('-', ' ')} ${hour.slice(0, 2)} ${hour.slice(3, 5)}`
}
const txtRow = (time: number, wave: string): string =>
  `${clock(time)} 110 11.0 14.0   ${wave} 1013.2  20.1  24.4  18.0   MM +0.6    MM\n`

/**
 * Two days of a made-up hull: samples sent twice, once, or late; summaries at once, minutes later, or never.
 */
function madeUp(chance: Chance, start: number, isLate: boolean): Station {
  const station: Station = { txt: TXT_HEADER, spec: SPEC_HEADER, expected: new Map() }
  const one = (least: number, steps: number): string => (least + chance.below(steps) / 10).toFixed(1)
  const point = (): string => chance.pick([...POINTS, 'MM'])
  for (let time = start; time < start + 2 * 86_400; time += 1800) {
    const [height, period, mean] = [one(0.5, 35), one(5, 40), chance.below(360)]
    const isSentTwice = chance.percent(60)
    const isFirstLost = isSentTwice && chance.percent(30)
    if (!isFirstLost) station.txt += txtRow(time, `${height} MM ${period} ${mean}`)
    if (isSentTwice) station.txt += txtRow(time + 600, `${height} ${10 + chance.below(5)} ${period} ${mean}`)
    const sent = isFirstLost ? time + 600 : time
    station.expected.set(sent, NONE)
    if (chance.percent(15)) continue
    // A height that no sample has: the summary is of another one.
    const isForeign = chance.percent(10)
    // No part of a sea is higher than the whole.
    const part = (): string => one(0, Number(height) * 10)
    const parts = chance.percent(10)
      ? 'MM MM MM MM MM MM'
      : `${part()} ${one(8, 90)} ${part()} ${one(2, 50)} ${point()} ${point()}`
    const at = isLate && chance.percent(50) ? time + 600 : time
    const line = `${clock(at)} ${isForeign ? '9.9' : height} ${parts} N/A ${period} ${mean}\n`
    station.spec += line
    if (!isForeign) station.expected.set(sent, partsOf(line))
  }
  return station
}

/**
 * A platform with the names of the primary swell, which the service also has, and one with those of all
 * swell.
 */
function writePlatforms(folder: string, times: readonly number[]): Map<string, Map<number, Parts>> {
  const hours = timesOf(times.map((time) => new Date(time * 1000).toISOString()))
  const column = (name: string, units: string, first: number, standard = ''): Variable =>
    variable(
      name,
      times.map((_, i) => (i === 1 ? NaN : first + i)),
      { units, ...(standard !== '' && { standard_name: `sea_surface_swell_wave_${standard}` }) },
    )
  const waves = variable(
    'VAVH',
    times.map(() => 3),
    { units: 'm' },
  )
  const primary = [
    column('VHM0_SW1', 'm', 2),
    column('VTM01_SW1', 's', 12),
    column('VMDR_SW1', 'degree', 280),
    column('VHM0_WW', 'm', 1),
    column('VTM01_WW', 's', 4),
    column('VMDR_WW', 'degree', 20),
  ]
  const all = [
    column('HEIGHT', 'm', 2, 'significant_height'),
    column('PERIOD', 's', 12, 'period'),
    column('WHITHER', 'degree', 100, 'to_direction'),
    column('VHM0_SW1', 'm', 9),
  ]
  mkdirSync(folder, { recursive: true })
  writePlatform(join(folder, 'primary.nc'), [waves, ...primary], { times: hours })
  const second = { platform_code: 'P2', platform_name: 'Platform Two' }
  writePlatform(join(folder, 'all.nc'), [waves, ...all], { times: hours, attributes: second })
  const parts = (...first: Parts) =>
    new Map(times.map((time, i) => [time, i === 1 ? NONE : first.map((value) => value && value + i)]))
  return new Map([
    ['P1', parts(2, 12, 280, 1, 4, 20)],
    ['P2', parts(2, 12, 280, null, null, null)],
  ])
}

/** The parts of each reading of a buoy, with its time. */
async function partsIn(dir: string, id: number): Promise<[number, ...Parts][]> {
  const asked = new AskedPath(await viewOf(dir))
  const { text } = asked.get(`/v2/buoys/${id}/readings?include=swell&order=asc&per_page=100`, KEYED)
  const { data } = JSON.parse(text) as { data: { readings: { [name: string]: string | number | null }[] } }
  return data.readings.map((each) => [
    Date.parse(String(each['time'])) / 1000,
    ...MEMBERS.map((name) => each[name] as number | null),
  ])
}

const inOrder = (parts: ReadonlyMap<number, Parts>): [number, ...Parts][] =>
  [...parts].toSorted(([a], [b]) => a - b).map(([time, values]) => [time, ...values])

test('Ten .spec files and platforms of Copernicus give what a plain reading of them gives.', async (t) => {
  const folder = temporaryFolder(t)
  const chance = new Chance(35)
  const start = Date.UTC(2026, 2, 1) / 1000
  mkdirSync(join(folder, 'ndbc', 'realtime2'), { recursive: true })
  const expected = writePlatforms(join(folder, 'cmems'), [start, start + 3600, start + 7200])
  const stations = Array.from({ length: 10 }, (_, i) => {
    const id = `4600${i}`
    const { txt, spec, expected: parts } = madeUp(chance, start + [600, 1560, 0][i % 3], i % 2 === 0)
    writeFileSync(join(folder, 'ndbc', 'realtime2', `${id}.txt`), txt)
    writeFileSync(join(folder, 'ndbc', 'realtime2', `${id}.spec`), spec)
    expected.set(id, parts)
    return `<station id="${id}" lat="${30 + i}" lon="-150" name="S" type="buoy"/>`
  })
  writeFileSync(
    join(folder, 'ndbc', 'activestations.xml'),
    `<stations created="2026-03-03T00:00:00UTC">${stations.join('')}</stations>`,
  )
  const dir = join(folder, 'snapshots')
  await build([openNdbc(join(folder, 'ndbc')), openCmems(join(folder, 'cmems'))], dir)
  const { id: ids, identifiers } = await catalogOf(dir)
  assert.equal(ids.length, expected.size)
  for (const [i, id] of ids.entries())
    assert.deepEqual(await partsIn(dir, id), inOrder(expected.get(identifiers[i])!))
  // The test would mean little where hardly anything was joined.
  const joined = [...expected.values()]
    .flatMap((rows) => [...rows.values()])
    .filter((parts) => parts !== NONE)
  assert.ok(joined.length > 500, `${joined.length}`)
})

test('A summary that comes after its reading joins it in the next build, and one that is away takes nothing else.', async (t) => {
  const folder = temporaryFolder(t)
  const dir = join(folder, 'snapshots')
  const station = madeUp(new Chance(1), Date.UTC(2026, 2, 1) / 1000, true)
  mkdirSync(join(folder, 'realtime2'))
  writeFileSync(
    join(folder, 'activestations.xml'),
    '<stations><station id="46001" lat="30" lon="-150" name="S" type="buoy"/></stations>',
  )
  writeFileSync(join(folder, 'realtime2', '46001.txt'), station.txt)
  const built = async (): Promise<unknown> => {
    await build([openNdbc(folder)], dir)
    return partsIn(dir, 1)
  }
  const times = inOrder(station.expected).map(([time]): [number, ...Parts] => [time, ...NONE])
  assert.deepEqual(await built(), times)
  writeFileSync(join(folder, 'realtime2', '46001.spec'), station.spec)
  assert.deepEqual(await built(), inOrder(station.expected))
})
