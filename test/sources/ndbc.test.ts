import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { SWELL_NAMES } from '../../src/sea/columns.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { FIXTURES, folderOf, identifiersOf, placesOf, record, rowLines } from './recorder.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

const STATIONS = `<?xml version="1.0" encoding="UTF-8"?>
<stations created="2025-06-13T03:25:02UTC" count="2">
  <!--a remark-->
  <station id="41001" lat="34.746" lon="-72.415" elev="0" name="EAST HATTERAS" owner="NDBC" type="buoy" met="y"/>
  <station type="fixed" name="" lon="-122.4" lat="47.7" id="wpow1"/>
</stations>
`
const REALTIME_HEADER = `#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS PTDY  TIDE
#yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   hPa  degC  degC  degC  nmi  hPa    ft
`

const SUMMARY_HEADER = '#YY  MM DD hh mm WVHT  SwH  SwP  WWH  WWP SwD WWD  STEEPNESS  APD MWD\n'

/** The rows that one data file gives, a line each. */
async function linesOf(
  t: Parameters<typeof folderOf>[0],
  path: string,
  content: string | Uint8Array,
): Promise<string[]> {
  const folder = await folderOf(t, { 'activestations.xml': STATIONS, [path]: content })
  const { rows, bad } = await record(openNdbc, folder)
  assert.deepEqual(bad, [])
  return rowLines([...rows.values()].flat())
}

/** But for the one of 2005 and 2006, which the next test reads. */
const GENERATIONS: [path: string, content: string | Uint8Array, rows: string[], which: string][] = [
  [
    'stdmet/41001h1976.txt',
    `YY MM DD hh WD   WSPD GST  WVHT  DPD   APD  MWD  BAR    ATMP  WTMP  DEWP  VIS
76 01 01 00 999 06.2 99.0 04.10 99.00 09.00 999 1021.8  01.1 999.0 999.0 99.0
76 01 01 03 034 06.7 99.0 03.80 14.30 08.00 360 1022.3  00.9 -01.7 999.0 99.0
`,
    [
      '1976-01-01T00:00:00Z 4.1 - - - - - 22.32 - - | 1.1 - 1021.8 - -',
      '1976-01-01T03:00:00Z 3.8 - 14.3 14.3 0 -1.7 24.12 34 - | 0.9 - 1022.3 - -',
    ],
    'to 1998: two-digit years, no minutes',
  ],
  [
    'stdmet/wpow1h1999.txt',
    'YYYY MM DD hh WD   WSPD GST  WVHT  DPD   APD  MWD  BAR    ATMP  WTMP  DEWP  VIS\r\n' +
      '1999 01 01 00  69  4.5  6.1 99.00 99.00 99.00 999 1021.6   7.6 999.0   4.8 99.0\r\n',
    ['1999-01-01T00:00:00Z - - - - - - 16.2 69 21.96 | 7.6 4.8 1021.6 - -'],
    '1999: four-digit years, CRLF',
  ],
  [
    'stdmet/41001h2004.txt.gz',
    gzipSync(`YYYY MM DD hh  WD  WSPD GST  WVHT  DPD   APD  MWD  BAR    ATMP  WTMP  DEWP  VIS  TIDE
2004 01 01 00  16  2.5  2.9  0.64 10.81  6.56 999 1026.9  23.1  22.9  16.9 99.0 99.00
`),
    ['2004-01-01T00:00:00Z 0.64 - 10.81 10.81 - 22.9 9 16 10.44 | 23.1 16.9 1026.9 - -'],
    '2000 to 2004: with TIDE, gzip',
  ],
  [
    'stdmet/41001h202401qc.txt',
    `#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS  TIDE
#yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   hPa  degC  degC  degC   mi    ft
2024 01 14 10 26 999 99.0 99.0  3.78 10.53  7.22 190 9999.0 999.0   8.4 999.0 99.0 99.00
`,
    ['2024-01-14T10:26:00Z 3.78 - 10.53 10.53 190 8.4 - - -'],
    'since 2007: a second line of units',
  ],
]

test('Archive files of all header generations are read by the names of their columns', async (t) => {
  for (const [path, content, rows, which] of GENERATIONS)
    assert.deepEqual(await linesOf(t, path, content), rows, which)
})

test('In the archive each column has its own missing marker, and the marker of one is a value of another', async (t) => {
  const header = 'YYYY MM DD hh mm WD WSPD GST WVHT DPD APD MWD BAR ATMP WTMP DEWP VIS TIDE\n'
  const rows = await linesOf(
    t,
    'stdmet/41001h2006.txt',
    `${header}2006 01 01 00 00 99 99.0 9.9 9.99 9.9 99.00 99 999.0 1 9.9 1 99.0 99.00
2006 01 01 01 00 999 1.0 99.0 99.00 5 5 5 999.0 1 999.0 1 99.0 99.00
2006 01 01 02 00 1 99.0 99.0 1.00 99.00 5.0 999 999.0 1 999.0 1 99.0 99.00
`,
  )
  assert.deepEqual(rows, [
    '2006-01-01T00:00:00Z 9.99 - 9.9 9.9 99 9.9 - 99 35.64 | 1 1 999 - -',
    '2006-01-01T01:00:00Z - - - - - - 3.6 - - | 1 1 999 - -',
    '2006-01-01T02:00:00Z 1 - - - - - - 1 - | 1 1 999 - -',
  ])
})

test('A line of units may spell them otherwise', async (t) => {
  const spelled = REALTIME_HEADER.replaceAll('degT', 'deg').replace('degC', 'degrees_C')
  const row =
    '2023 09 28 15 10  MM   MM   MM   2.5     8   6.1  95     MM    MM    MM    MM   MM   MM    MM\n'
  assert.deepEqual(await linesOf(t, 'realtime2/41001.txt', spelled + row), [
    '2023-09-28T15:10:00Z 2.5 - 8 8 95 - - - -',
  ])
})

test('Real-time rows come in order of time, MM is missing, and a row with an average period alone has no period', async (t) => {
  const rows = await linesOf(
    t,
    'realtime2/41001.txt',
    `${REALTIME_HEADER}2023 09 28 16 20 110 11.1   MM    MM    MM    MM  MM     MM    MM    MM    MM   MM   MM    MM
# a remark between the rows
2023 09 28 16 10 110 11.0 14.0   2.6    MM   6.2 360 1013.2  20.1  24.4  18.0   MM +0.6    MM
2023 09 28 16 00  MM   MM   MM    MM    MM    MM  MM 1013.2  20.1    MM  18.0   MM -1.6    MM
2023 09 28 15 10  MM   MM   MM   2.5     8   6.1  95     MM    MM    MM    MM   MM   MM    MM
`,
  )
  assert.deepEqual(rows, [
    '2023-09-28T15:10:00Z 2.5 - 8 8 95 - - - -',
    '2023-09-28T16:00:00Z - - - - - - - - - | 20.1 18 1013.2 - -',
    '2023-09-28T16:10:00Z 2.6 - - - 0 24.4 39.6 110 50.4 | 20.1 18 1013.2 - -',
    '2023-09-28T16:20:00Z - - - - - - 39.96 110 -',
  ])
})

/**
 * The heights and dominant periods that lines of `HH MM WVHT DPD APD MWD` give, by time; and how many were
 * left out.
 */
async function wavesOf(
  t: Parameters<typeof folderOf>[0],
  ...lines: string[]
): Promise<{ waves: string[]; garbled: number }> {
  const text = lines.map((line) => {
    const [hour, minute, ...waves] = line.split(' ')
    return `2023 09 28 ${hour} ${minute} 120 20.0 26.0 ${waves.join(' ')} MM MM 24.0 MM MM MM MM\n`
  })
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    'realtime2/41001.txt': REALTIME_HEADER + text.join(''),
  })
  const { rows, skipped, bad } = await record(openNdbc, folder)
  assert.deepEqual(bad, [])
  // Whatever becomes of the waves, each line keeps its wind.
  assert.deepEqual(
    fieldOf(rows.get('41001/1'), 'windSpeed'),
    lines.map(() => 72),
  )
  const waves = (rows.get('41001/1') ?? []).flatMap(({ time, significantHeight, period }) =>
    significantHeight === undefined ? [] : [`${time.slice(11, 16)} ${significantHeight} ${period ?? 'MM'}`],
  )
  const reason = '41001: waves garbled: height and average period are one number, and there is no other'
  return { waves, garbled: skipped.get(reason) ?? 0 }
}

for (const [what, lines, waves, garbled] of [
  [
    'true where its sample comes again with a dominant period',
    ['16 50 9.4 13 9.4 230', '16 40 9.4 MM 9.4 230'],
    ['16:40 9.4 13'],
    0,
  ],
  [
    'true where its sample came before with a dominant period',
    ['16 50 9.4 MM 9.4 230', '16 40 9.4 13 9.4 230'],
    ['16:40 9.4 13'],
    0,
  ],
  [
    'true where the sea before was as high',
    ['16 40 9.4 MM 9.4 230', '16 20 8.8 13 9.1 228'],
    ['16:20 8.8 13', '16:40 9.4 MM'],
    0,
  ],
  // The newest sea before may be lower: a storm rises. One third of 9 m is still the same storm.
  [
    'true where the sea after it was as high',
    ['18 00 12.0 14 9.1 228', '16 40 9.0 MM 9.0 230', '14 00 5.9 9 7.0 230'],
    ['14:00 5.9 9', '16:40 9 MM', '18:00 12 14'],
    0,
  ],
  ['garbled where it comes again as it was', ['16 50 12.2 MM 12.2 230', '16 40 12.2 MM 12.2 230'], [], 2],
  [
    'garbled where no neighbour was as high',
    ['18 00 5.9 9 7.0 228', '16 40 9.0 MM 9.0 230', '14 00 12.1 9 9.1 230'],
    ['14:00 12.1 9', '18:00 5.9 9'],
    1,
  ],
  [
    'garbled where the neighbour was more than three hours before',
    ['16 40 9.4 MM 9.4 230', '13 30 9.4 13 9.1 228'],
    ['13:30 9.4 13'],
    1,
  ],
  [
    'garbled where another of the kind would have to vouch for it',
    ['17 40 9.5 MM 9.5 230', '16 40 9.4 MM 9.4 230'],
    [],
    2,
  ],
] as const) {
  test(`A height equal to the average period is ${what}`, async (t) => {
    assert.deepEqual(await wavesOf(t, ...lines), { waves, garbled })
  })
}

/** One line of a made-up real-time file, as the property below deals with it. */
interface Line {
  minute: number
  wvht: string
  dpd: string
  apd: string
  mwd: string
  wtmp: string
}

/**
 * The rule on repeats in its slowest form: all runs first, then one reading of each, `HEIGHT PERIOD
 * TEMPERATURE` by minute.
 */
function samplesOf(lines: readonly Line[]): Map<number, string> {
  const waves = lines.filter(({ wvht }) => wvht !== 'MM').toSorted((a, b) => a.minute - b.minute)
  const runs: Line[][] = []
  for (const line of waves) {
    const run = [...(runs.at(-1) ?? []), line]
    const isOneSample =
      run.every(
        ({ minute }, i) => minute - run[Math.max(i - 1, 0)].minute <= 10 && minute - run[0].minute <= 20,
      ) &&
      new Set(run.map(({ wvht, mwd }) => `${wvht} ${mwd}`)).size === 1 &&
      new Set(run.map(({ apd }) => apd).filter((apd) => apd !== 'MM')).size <= 1 &&
      run.filter(({ dpd }) => dpd !== 'MM').length <= 1 &&
      run.every(({ apd, dpd }) => apd !== 'MM' || dpd !== 'MM')
    if (isOneSample && run.length > 1) runs.splice(-1, 1, run)
    else runs.push([line])
  }
  const firstOf = (run: readonly Line[], label: 'dpd' | 'wtmp'): string =>
    run.map((line) => line[label]).find((text) => text !== 'MM') ?? 'MM'
  return new Map(
    runs.map((run) => [run[0].minute, `${run[0].wvht} ${firstOf(run, 'dpd')} ${firstOf(run, 'wtmp')}`]),
  )
}

test('Whatever the rows, the readings of a station are its wave samples by the rule on repeats, over all its files', async (t) => {
  const line = fc.record({
    minute: fc.nat(120).map((n) => n * 5),
    wvht: fc.constantFrom('MM', '1.0', '1.1'),
    dpd: fc.constantFrom('MM', '8', '9'),
    apd: fc.constantFrom('MM', '6.0', '6.0', '6.1'),
    mwd: fc.constantFrom('95', '95', '96', 'MM'),
    wtmp: fc.constantFrom('MM', '20.0', '21.5'),
  })
  const anyLines = fc.uniqueArray(line, { selector: ({ minute }) => minute, maxLength: 60 })
  const textOf = (lines: readonly Line[]) =>
    REALTIME_HEADER +
    lines
      .map(({ minute, wvht, dpd, apd, mwd, wtmp }) => {
        const clock = `${String(Math.floor(minute / 60)).padStart(2, '0')} ${String(minute % 60).padStart(2, '0')}`
        return `2023 09 28 ${clock} MM MM MM ${wvht} ${dpd} ${apd} ${mwd} MM MM ${wtmp} MM MM MM MM\n`
      })
      .join('')
  await fc.assert(
    fc.asyncProperty(anyLines, fc.nat(60), fc.boolean(), async (lines, cut, newestFirst) => {
      const order = newestFirst ? lines.toSorted((a, b) => b.minute - a.minute) : lines
      const folder = await folderOf(t, {
        'activestations.xml': STATIONS,
        'realtime2/41001.txt': textOf(order.slice(0, cut)),
        'realtime2/41001.txt.gz': gzipSync(textOf(order.slice(cut))),
      })
      const { rows } = await record(openNdbc, folder)
      const got = rows.get('41001/1') ?? []
      const start = Date.UTC(2023, 8, 28)
      const samples = new Map<number, string>()
      for (const { time, significantHeight, period, waterTemperature } of got) {
        if (significantHeight === undefined) continue
        samples.set(
          (Date.parse(time) - start) / 60_000,
          `${significantHeight.toFixed(1)} ${period ?? 'MM'} ${waterTemperature?.toFixed(1) ?? 'MM'}`,
        )
      }
      assert.deepEqual(samples, samplesOf(lines))
      // A repeat of which nothing is left comes as an empty row, which takes back what an earlier build said
      // of its time.
      const kept = lines.filter(({ wvht, wtmp }) => wtmp !== 'MM' || wvht !== 'MM')
      assert.deepEqual(
        got.map(({ time }) => (Date.parse(time) - start) / 60_000),
        kept.map(({ minute }) => minute).toSorted((a, b) => a - b),
      )
    }),
    { numRuns: 60 },
  )
})

test('The archive is feed 0 and the real-time file feed 1, and of two rows of one feed with one time the later file counts', async (t) => {
  const header = 'YYYY MM DD hh mm WD WSPD GST WVHT DPD APD MWD BAR ATMP WTMP DEWP VIS TIDE\n'
  const rest = '99.0 99.0 1.00 5.00 4.00 999 999.0 1 999.0 1 99.0 99.00'
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    'stdmet/41001h2005.txt': `${header}2005 12 31 23 00 1 ${rest}\n2005 12 31 23 50 2 ${rest}\n`,
    'stdmet/41001h2006.txt': `${header}2005 12 31 23 50 3 ${rest}\n2006 01 01 00 50 4 ${rest}\n`,
    '41001.txt': `${REALTIME_HEADER}2006 01 01 00 50 5 1.0 MM 1.0 5 4.0 MM MM MM MM MM MM MM MM\n`,
  })
  const { rows, buoys, ended, skipped } = await record(openNdbc, folder)
  assert.equal(buoys.length, 1)
  assert.equal(skipped.get('41001: a row whose time comes again with other values'), 1)
  assert.deepEqual(fieldsOf(rows.get('41001/0'), 'time', 'windDirection'), [
    ['2005-12-31T23:00:00Z', 1],
    ['2005-12-31T23:50:00Z', 3],
    ['2006-01-01T00:50:00Z', 4],
  ])
  assert.deepEqual(fieldOf(rows.get('41001/1'), 'windDirection'), [5])
  assert.deepEqual(ended, ['activestations.xml', '41001.txt', '41001h2005.txt', '41001h2006.txt'])
})

test('Positions and names come from the newest list that has them, and a station without a position is left out', async (t) => {
  const station = (attributes: string) => `<station ${attributes}/>`
  const list = (created: string, ...stations: string[]) =>
    `<stations created="${created}" count="9">${stations.map(station).join('')}</stations>`
  const data = `${REALTIME_HEADER}2023 09 28 16 20 110 11.1 MM 1.0 MM MM MM MM MM MM MM MM MM MM\n`
  const folder = await folderOf(t, {
    'activestations_a.xml': list(
      '2025-06-13T03:25:02UTC',
      'id="41001" lat="34.7" lon="-72.4" name="  EAST   HATTERAS "',
      'id="41002" lat="30" lon="-90" name="Glider"',
      'id="41003" lat="30" lon="-90" name="Parked"',
      'id="41004" lat="1" lon="-179.99" name=""',
    ),
    'activestations_b.xml': list(
      '2024-01-01T00:00:00UTC',
      'id="41001" lat="33" lon="-70" name="OLD"',
      'id="41004" lat="2" lon="3" name="Edisto &amp; Co"',
      'id="41005" name="Dead &#233;" lat="4" lon="5"',
    ),
    'station_table_2023.txt': `# STATION_ID | OWNER | TTYPE | HULL | NAME | PAYLOAD | LOCATION | TIMEZONE | FORECAST | NOTE
#
41002|CG|Buoy||Found||31.759 N 74.936 W (31&#176;45'32" N 74&#176;56'9" W)|E| |
tfblk|IM|Buoy||10.0 nm WNW on Blakknes||12.5 S 24.778 E (12&#176;30'0" S 24&#176;46'41" E)|?| |
41006|CG|Buoy||||7.0 N 8.0 W (7)|E| |
`,
    'realtime2/41001.txt': data,
    'realtime2/41002.txt': data,
    'realtime2/41003.txt': data,
    'realtime2/41004.txt': data,
    'realtime2/41005.txt': data,
    'realtime2/41006.txt': data,
    'realtime2/41007.txt': data,
    'realtime2/TFBLK.txt': data,
    'realtime2/44013.spec': 'whatever',
    'latest_obs/notes.txt': 'whatever',
    'README.txt': 'whatever',
  })
  const { buoys, sources, doubts, bad } = await record(openNdbc, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(placesOf(buoys), [
    ['41001', 'EAST HATTERAS', 34.7, -72.4],
    ['41002', 'Glider', 31.759, -74.936],
    ['41004', 'Edisto & Co', 1, -179.99],
    ['41005', 'Dead é', 4, 5],
    ['41006', 'Station 41006', 7, -8],
    ['TFBLK', '10.0 nm WNW on Blakknes', -12.5, 24.778],
  ])
  assert.deepEqual(fieldsOf(sources, 'name', 'network'), [['NDBC', 'national']])
  assert.deepEqual(doubts, [
    'files or folders are not read × 3: README.txt, latest_obs/notes.txt, realtime2/44013.spec',
    'no position × 2: 41003, 41007',
  ])
})

test('Monthly files of the archive are read, in stdmet and in its folders of months', async (t) => {
  const header = 'YYYY MM DD hh mm WD WSPD GST WVHT DPD APD MWD BAR ATMP WTMP DEWP VIS TIDE\n'
  const row = (date: string, height: string) =>
    `${header}${date} 00 00 1 99.0 99.0 ${height} 5.00 4.00 999 999.0 1 999.0 1 99.0 99.00\n`
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    'stdmet/4100132024.txt': row('2024 03 01', '1.3'),
    'stdmet/Oct/41001a2024.txt.gz': gzipSync(row('2024 10 01', '2.0')),
    'stdmet/Nov/41001.txt': row('2024 11 01', '2.1'),
    'stdmet/Nov/wpow1b2024.txt': row('2024 11 01', '0.4'),
    'stdmet/Mar/440358732024.txt': row('2024 03 01', '0.5'),
    'station_table.txt': '4403587|BMI|Buoy||Whitefish Bay||46.545 N 84.769 W|E||\n',
    'stdmet/Nov/index.html': '',
    '41001m2023.txt': row('2023 12 01', '1.2'),
  })
  const { rows, doubts, bad } = await record(openNdbc, folder)
  assert.deepEqual(bad, [])
  assert.equal(doubts[0], 'files or folders are not read × 1: stdmet/Nov/index.html')
  assert.match(
    doubts[1],
    /^a column of weather whose unit is not the usual one is left out × 6: 41001m2023\.txt: VIS in no unit,/,
  )
  assert.equal(doubts.length, 2)
  const heights = (key: string) => rows.get(key)?.map(({ significantHeight }) => significantHeight)
  assert.deepEqual(heights('41001/0'), [1.2, 1.3, 2, 2.1])
  assert.deepEqual(heights('WPOW1/0'), [0.4])
  assert.deepEqual(heights('4403587/0'), [0.5])
})

test('Faults of the broken fixture are reported with file and line, and what is good in it is read', async () => {
  const { bad, skipped, rows, buoys, doubts, understood } = await record(
    openNdbc,
    join(FIXTURES, 'broken', 'ndbc'),
  )
  assert.deepEqual(bad, [
    'activestations.xml:4 a station without a valid id, lat or lon',
    'activestations.xml:7 not well-formed XML; the rest of the file is not read',
    '99001.txt:4 wrong number of fields',
    '99001.txt:5 no valid date and time',
    '99001.txt:6 WVHT is not a decimal number',
    '99001.txt:9 no valid date and time',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'WVHT outside 0 to 25 m': 1,
    '99001: neither waves, water temperature nor weather': 1,
    '99001: no spectral wave summary': 1,
  })
  assert.equal(understood.get('99001.txt'), 3)
  assert.deepEqual(identifiersOf(buoys), ['99001'])
  assert.deepEqual(fieldsOf(rows.get('99001/1'), 'time', 'significantHeight'), [
    ['2024-03-01T01:20:00Z', undefined],
    ['2024-03-01T02:00:00Z', 1.5],
  ])
  assert.deepEqual(doubts, ['no position × 2: 99003, 99005'])
})

test('A listed station whose file is of something else is one bad line', async (t) => {
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    'realtime2/41001.txt': 'this is not a weather file\n',
    'stdmet/41001h2024.txt': REALTIME_HEADER.replace('m/s', 'kts'),
    'stdmet/41001c2024.txt': '#YY MM DD hh mm WDIR WSPD GDR GST GTIME\n',
    'stdmet/41001h2023.txt': REALTIME_HEADER.split('\n')[0].replace(/ DPD /, ' XXX '),
    'realtime2/WPOW1.txt': '',
  })
  const reason = 'no header line of an NDBC standard meteorological file'
  assert.deepEqual((await record(openNdbc, folder)).bad, [
    `41001.txt:1 ${reason}`,
    `41001c2024.txt:1 ${reason}`,
    `41001h2023.txt:1 ${reason}`,
    '41001h2024.txt:2 WSPD is not in m/s',
    `WPOW1.txt:1 ${reason}`,
  ])
})

test('Nines are missing in every file, heights of 0 m between waves are garbled, and a calm is not', async (t) => {
  const row = (time: string, wave: string, wind = 'MM MM MM') =>
    `2023 09 28 ${time} ${wind} ${wave} MM MM MM MM MM MM MM\n`
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    'realtime2/41001.txt': [
      REALTIME_HEADER,
      row('08 50', '1.9 9 6.2 95'),
      row('09 20', '99.00 99.00 99.00 999', '999 99.0 99.0'),
      row('09 50', '0.00 MM 0.00 MM'),
      row('10 50', '2.0 9 6.1 95'),
      row('11 50', '0.0 MM MM MM'),
      row('20 00', '0.2 3 2.0 95'),
      row('20 30', '0.0 MM MM MM'),
    ].join(''),
  })
  const { rows, skipped } = await record(openNdbc, folder)
  assert.deepEqual(rowLines(rows.get('41001/1')?.filter((one) => Object.keys(one).length > 1)), [
    '2023-09-28T08:50:00Z 1.9 - 9 9 95 - - - -',
    '2023-09-28T10:50:00Z 2 - 9 9 95 - - - -',
    '2023-09-28T20:00:00Z 0.2 - 3 3 95 - - - -',
    '2023-09-28T20:30:00Z 0 - - - - - - - -',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    '41001: neither waves, water temperature nor weather': 1,
    '41001: waves garbled: a height of 0 m between waves': 2,
  })
})

const LATEST_HEADER = `#STN       LAT      LON  YYYY MM DD hh mm WDIR WSPD   GST WVHT  DPD APD MWD   PRES  PTDY  ATMP  WTMP  DEWP  VIS   TIDE
#text      deg      deg   yr mo day hr mn degT  m/s   m/s   m   sec sec degT   hPa   hPa  degC  degC  degC  nmi     ft
`

test('Copies of latest_obs.txt are searched through, and place the stations that no list places', async (t) => {
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    'latest_obs/latest_obs.txt': `${LATEST_HEADER}41001    34.000  -72.000 2023 09 28 16 20 110  11.0  14.0   MM   MM  MM  MM 1013.2  +0.6  20.1  24.4  18.0   MM     MM
46QQQ   -33.500  179.250 2023 09 28 16 00  MM    MM    MM  2.6   10 6.2 360     MM    MM    MM    MM    MM   MM     MM
44444    10.000  -20.000 2023 09 28 16 00  MM    MM    MM   MM   MM  MM  MM     MM  +0.3    MM    MM    MM   MM     MM
55555    91.000  -20.000 2023 09 28 16 00  MM    MM    MM  1.0   MM  MM  MM     MM    MM    MM    MM    MM   MM     MM
`,
    'latest_obs/history/latest_obs_1.txt.gz':
      gzipSync(`${LATEST_HEADER.replace('LAT      LON', 'LAT LON')}41001 34 -72 2023 09 28 15 40 MM MM MM 2.5 MM 6.1 95 MM MM MM MM MM MM MM
41001 34 -72 2023 09 28 15 50 MM MM MM 2.5 8 6.1 95 MM MM MM 24.5 MM MM MM
46qqq -33.5 179.3 2023 09 28 14 00 MM MM MM 2.4 9 6.2 90 MM MM MM MM MM MM MM
`),
    'realtime2/41001.txt': `${REALTIME_HEADER}2023 09 28 16 20 110 11.0 14.0   2.6     9   6.2 100 1013.2  20.1  24.4  18.0   MM +0.6    MM
`,
  })
  const { buoys, rows, bad, doubts, ended, understood, skipped } = await record(openNdbc, folder)
  assert.deepEqual(bad, ['latest_obs.txt:6 a row without a valid station, LAT or LON'])
  assert.deepEqual(doubts, [])
  assert.deepEqual(buoys, [
    {
      source: 'NDBC',
      identifier: '41001',
      name: 'EAST HATTERAS',
      type: 'buoy',
      lat: 34.746,
      lng: -72.415,
    },
    { source: 'NDBC', identifier: '46QQQ', name: 'Station 46QQQ', lat: -33.5, lng: 179.25 },
  ])
  assert.deepEqual(rowLines(rows.get('41001/1')), [
    '2023-09-28T15:40:00Z 2.5 - 8 8 95 24.5 - - -',
    '2023-09-28T15:50:00Z - - - - - 24.5 - - -',
    '2023-09-28T16:20:00Z 2.6 - 9 9 100 24.4 39.6 110 50.4 | 20.1 18 1013.2 - -',
  ])
  assert.deepEqual(fieldsOf(rows.get('46QQQ/1'), 'time', 'direction'), [
    ['2023-09-28T14:00:00Z', 90],
    ['2023-09-28T16:00:00Z', 0],
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'neither waves, water temperature nor weather': 1,
    '41001: waves repeat a sample': 1,
  })
  assert.deepEqual([understood.get('latest_obs.txt'), understood.get('latest_obs_1.txt.gz')], [3, 3])
  assert.equal(new Set(ended).size, 4)
})

test('A folder with nothing but latest_obs.txt is enough, and a copy of something else is one bad line', async (t) => {
  const row = '41001 34.5 -72.5 2023 09 28 16 20 110 11.0 14.0 1.5 MM MM MM MM MM MM MM MM MM MM\n'
  const folder = await folderOf(t, {
    'latest_obs.txt': `${LATEST_HEADER}${row}${row.replace('41001', '41002').replace('34.5 -72.5', '0.0 0.0')}${row.replace('41001', '41003').replace('-72.5', '285.2')}`,
    'latest_obs_2.txt': `${REALTIME_HEADER}2023 09 28 16 20 110 11.0 14.0 1.5 MM MM MM MM MM MM MM MM MM MM\n`,
    'latest_obs_3.txt': '<html>',
  })
  const { buoys, bad, doubts } = await record(openNdbc, folder)
  assert.deepEqual(bad, [
    'latest_obs_2.txt:3 a row without a valid station, LAT or LON',
    'latest_obs_3.txt:1 no header line of an NDBC standard meteorological file',
  ])
  assert.deepEqual(doubts, ['the position 0 0 does not count × 1: 41002', 'no position × 1: 41002'])
  assert.deepEqual(fieldsOf(buoys, 'identifier', 'lat', 'lng'), [
    ['41001', 34.5, -72.5],
    ['41003', 34.5, -74.8],
  ])
})

test('Files of five days are those of a station, files of an hour those of all, with positions from the lists', async (t) => {
  const row = (minute: string, height: string) =>
    `2023 09 28 16 ${minute} 110 11.0 14.0 ${height} 9 6.1 95 1013.2 20.1 24.4 18.0 MM +0.6 MM\n`
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    '5day2/41001_5day.txt': REALTIME_HEADER + row('20', '1.5'),
    '5day2/41001_5day.cwind': '#YY MM DD hh mm WDIR WSPD GDR GST GTIME\n',
    'hourly2/hour_16.txt': `${REALTIME_HEADER.replace('#YY', '#STN YY').replace('#yr', '#text yr')}41001 ${row('50', '1.7')}41001 ${row('20', '1.6')}99999 ${row('50', '1.8')}`,
    'hourly2/hour_16.spec': 'x\n',
  })
  const { rows, bad, doubts } = await record(openNdbc, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(doubts, [
    'files or folders are not read × 2: 5day2/41001_5day.cwind, hourly2/hour_16.spec',
    'no position × 1: 99999',
  ])
  // The station's own file counts before the one of all stations.
  assert.deepEqual(fieldsOf(rows.get('41001/1'), 'time', 'significantHeight'), [
    ['2023-09-28T16:20:00Z', 1.5],
    ['2023-09-28T16:50:00Z', 1.7],
  ])
})

test('A summary joins the nearest sample of its height and average period within 20 minutes, and no other', async (t) => {
  const row = (minute: string, wave: string) =>
    `2023 09 28 ${minute} 110 11.0 14.0 ${wave} 1013.2  20.1  24.4  18.0   MM +0.6    MM\n`
  const folder = await folderOf(t, {
    'activestations.xml': STATIONS,
    'realtime2/41001.txt': [
      REALTIME_HEADER,
      row('10 00', '1.5 9 6.2 95'),
      row('10 30', '1.5 9 6.2 95'),
      row('11 00', '2.0 9 MM 95'),
      row('12 00', '1.1 MM 5.0 95'),
      row('12 10', '1.1 8 5.0 95'),
      row('13 00', '1.0 8 5.0 95'),
      row('14 00', 'MM MM MM MM'),
    ].join(''),
    'realtime2/41001.spec.gz': gzipSync(
      [
        SUMMARY_HEADER,
        '2023 09 28 10 16 1.5 1.2 12.0 0.9 4.0 NNW   N N/A 6.2 95\n',
        '2023 09 28 10 14 1.5 0.1 11.0 0.9 4.0   S   S N/A 6.2 95\n',
        '2023 09 28 10 44 1.5 0.1 11.0 0.9 4.0   S   S N/A 6.2 95\n',
        '2023 09 28 10 40 2.0 1.9 0.00  MM  MM  MM NNE N/A 7.7 95\n',
        '2023 09 28 12 20 1.1 1.2 10.0 0.3 3.0 E-W ene N/A 5.0 95\n',
        '2023 09 28 13 00 1.2 1.0 10.0 0.3 3.0   E ENE N/A 5.0 95\n',
        '2023 09 28 13 21 1.0 1.0 10.0 0.3 3.0   E ENE N/A 5.0 95\n',
        '2023 09 28 13 00 1.0  MM   MM  MM  MM  MM  MM N/A 5.0 95\n',
        '2023 09 28 14 00  MM 1.0 10.0 0.3 3.0   E ENE N/A  MM MM\n',
        '2023 09 28 12 00 1.1 5.5 10.0 0.3 3.0   E ENE N/A 5.0 95\n',
      ].join(''),
    ),
  })
  const { rows, skipped, bad, doubts } = await record(openNdbc, folder)
  assert.deepEqual([bad, doubts], [[], []])
  assert.deepEqual(
    fieldsOf(rows.get('41001/1'), 'time', ...SWELL_NAMES).map(([time, ...values]) => [
      String(time).slice(11, 16),
      ...values,
    ]),
    [
      ['10:00', 0.1, 11, 180, 0.9, 4, 180],
      ['10:30', 1.2, 12, 337.5, 0.9, 4, 0],
      ['11:00', 1.9, 0, undefined, undefined, undefined, 22.5],
      ['12:00', 1.2, 10, undefined, 0.3, 3, 67.5],
      ['12:10', undefined, undefined, undefined, undefined, undefined, undefined],
      ['13:00', undefined, undefined, undefined, undefined, undefined, undefined],
      ['14:00', undefined, undefined, undefined, undefined, undefined, undefined],
    ],
  )
  assert.deepEqual(Object.fromEntries(skipped), {
    '41001: waves repeat a sample': 1,
    '41001: SwD is not a point of the compass': 1,
    '41001: swell or wind sea higher than the whole sea': 1,
    '41001: swell without its wave sample': 3,
  })
})
