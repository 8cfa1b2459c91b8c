/** NDBC's wave spectra: live and annual files, and every way in which they can be wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { folderOf, record, type RecordedSpectrum } from './recorder.ts'

const STATIONS = `<?xml version="1.0" encoding="UTF-8"?>
<stations><station id="41010" lat="28.9" lon="-78.5" name="CANAVERAL EAST" type="buoy" met="y"/></stations>
`

/** Pieces of NDBC's files of 41010, three bands of four hours in June 2020 and of two in February 2019. */
const LIVE = {
  data_spec: `#YY  MM DD hh mm Sep_Freq  < spec_1 (freq_1) spec_2 (freq_2) spec_3 (freq_3) ... >
2020 06 08 03 50 0.225 0.000 (0.033) 0.024 (0.093) 0.060 (0.100)
2020 06 08 02 50 0.161 0.000 (0.033) 0.029 (0.093) 0.068 (0.100)
`,
  swdir: `#YY  MM DD hh mm alpha1_1 (freq_1) alpha1_2 (freq_2) alpha1_3 (freq_3) ... >
2020 06 08 03 50 999.0 (0.033) 136.0 (0.093) 140.0 (0.100)
2020 06 08 02 50 999.0 (0.033) 92.0 (0.093) 60.0 (0.100)
`,
  swdir2: `#YY  MM DD hh mm alpha2_1 (freq_1) alpha2_2 (freq_2) alpha2_3 (freq_3) ... >
2020 06 08 03 50 999.0 (0.033) 104.0 (0.093) 280.0 (0.100)
2020 06 08 02 50 999.0 (0.033) 64.0 (0.093) 60.0 (0.100)
`,
  swr1: `#YY  MM DD hh mm r1_1 (freq_1) r1_2 (freq_2) r1_3 (freq_3) ... >
2020 06 08 03 50 999.00 (0.033) 0.42 (0.093) 0.35 (0.100)
2020 06 08 02 50 999.00 (0.033) 0.39 (0.093) 0.50 (0.100)
`,
  swr2: `#YY  MM DD hh mm r2_1 (freq_1) r2_2 (freq_2) r2_3 (freq_3) ... >
2020 06 08 03 50 999.00 (0.033) 0.17 (0.093) 0.09 (0.100)
2020 06 08 02 50 999.00 (0.033) 0.21 (0.093) 0.30 (0.100)
`,
}

const annualOf = (first: string, second: string): string =>
  `#YY  MM DD hh mm  .0925  .1000  .3500  .3650\n2019 02 06 00 40 ${first}\n2019 02 06 01 40 ${second}\n`
const ANNUAL = {
  w: annualOf('  1.21   1.78   0.03   0.02', '  1.88   5.12   0.02   0.02'),
  d: annualOf('    36     22      4      5', '   999     31     36      2'),
  i: annualOf('    25     10    287    322', '    38     27    331    356'),
  j: annualOf('    64     73     57     46', '    78    100     61     63'),
  k: annualOf('    57     48     21     17', '   999     73     31      6'),
}

type Files = { readonly [name: string]: string }
const named = (files: Files, name: (ending: string) => string): Files =>
  Object.fromEntries(Object.entries(files).map(([ending, text]) => [name(ending), text]))
const live = (more: Partial<typeof LIVE> = {}): Files =>
  named({ ...LIVE, ...more }, (ending) => `realtime2/41010.${ending}`)
const annual = (more: Partial<typeof ANNUAL> = {}): Files =>
  named({ ...ANNUAL, ...more }, (letter) => `swden/41010${letter}2019.txt`)

async function readFiles(t: Parameters<typeof folderOf>[0], files: Files) {
  return record(openNdbc, await folderOf(t, { 'activestations.xml': STATIONS, ...files }))
}

const lists = (spectrum: RecordedSpectrum): number[][] =>
  (['density', 'direction', 'principal', 'r1', 'r2'] as const).map((name) => [...spectrum[name]])

test('Live files of five quantities make one spectrum a time, with the middles that they round.', async (t) => {
  const { spectra, bad, doubts, skipped, understood } = await readFiles(t, live())
  assert.deepEqual([bad, doubts, [...skipped]], [[], [], []])
  assert.deepEqual(spectra.map(({ station, time }) => `${station} ${time}`).sort(), [
    '41010/1 2020-06-08T02:50:00Z',
    '41010/1 2020-06-08T03:50:00Z',
  ])
  const newest = spectra.find(({ time }) => time.includes('03:50'))!
  assert.deepEqual([...newest.bands.frequency], [0.0325, 0.0925, 0.1])
  assert.deepEqual([...newest.bands.bandwidth], [0.005, 0.005, 0.01])
  assert.deepEqual(lists(newest), [
    [0, 0.024, 0.06],
    [NaN, 136, 140],
    // Of two ends of an axis the one nearest to the mean direction.
    [NaN, 104, 100],
    [NaN, 0.42, 0.35],
    [NaN, 0.17, 0.09],
  ])
  assert.equal(understood.get('41010.swr2'), 2)
})

test('In annual files r1 and r2 are hundredths, but 999 is missing; old ones have no minutes, and bands of their own.', async (t) => {
  const { spectra, bad, doubts } = await readFiles(t, annual())
  assert.deepEqual([bad, doubts], [[], []])
  assert.deepEqual([...spectra[0].bands.bandwidth], [0.005, 0.01, 0.01, 0.02])
  assert.deepEqual(lists(spectra[1]), [
    [1.88, 5.12, 0.02, 0.02],
    [NaN, 31, 36, 2],
    [38, 27, 331, 356],
    [0.78, 1, 0.61, 0.63],
    [NaN, 0.73, 0.31, 0.06],
  ])
  assert.equal(spectra[0].station, '41010/0')
  const old = await readFiles(t, {
    'swden/41010w1997.txt': 'YY MM DD hh   .0300   .0400   .0500\n97 06 01 03    0.00    1.25    0.50\n',
  })
  assert.deepEqual(
    old.spectra.map(({ time, bands, density }) => [time, [...bands.bandwidth], [...density]]),
    [['1997-06-01T03:00:00Z', [0.01, 0.01, 0.01], [0, 1.25, 0.5]]],
  )
})

test('A live spectrum that the archive has a few minutes apart is left out and counted.', async (t) => {
  const later = ANNUAL.w.replaceAll('2019 02 06 0', '2020 06 08 0').replace('08 01 40', '08 03 40')
  const { spectra, skipped } = await readFiles(t, {
    ...live(),
    ...named({ w: later }, () => 'swden/41010w2020.txt'),
  })
  assert.deepEqual(spectra.map(({ station, time }) => `${station} ${time}`).sort(), [
    '41010/0 2020-06-08T00:40:00Z',
    '41010/0 2020-06-08T03:40:00Z',
    '41010/1 2020-06-08T02:50:00Z',
  ])
  assert.equal(skipped.get('41010: a live spectrum that the archive has'), 1)
})

test('Directions without densities are a grave doubt; densities with a part of the directions are one.', async (t) => {
  const { data_spec: _, ...four } = LIVE
  const without = await readFiles(
    t,
    named(four, (ending) => `realtime2/41010.${ending}`),
  )
  assert.deepEqual(without.spectra, [])
  assert.match(without.doubts.join(), /^grave: directions of wave spectra are there without the densities/)
  const { swr2: _r2, ...others } = LIVE
  const { spectra, doubts } = await readFiles(
    t,
    named(others, (ending) => `realtime2/41010.${ending}`),
  )
  assert.match(doubts.join(), /lack a part of their directions.*41010: r2$/)
  assert.equal(spectra.length, 2)
  assert.deepEqual([...spectra[0].r2], [NaN, NaN, NaN])
  const alone = await readFiles(
    t,
    named({ data_spec: LIVE.data_spec }, () => 'realtime2/41010.data_spec'),
  )
  assert.deepEqual([alone.spectra.length, alone.doubts], [2, []])
})

test('Bands that change between the rows of a file make spectra of two sets.', async (t) => {
  const changed = LIVE.data_spec.replace('0.161 0.000 (0.033)', '0.161 0.500 (0.020) 0.000 (0.033)')
  const { spectra, bad } = await readFiles(t, live({ data_spec: changed }))
  assert.deepEqual(bad, [])
  const wider = spectra.find(({ bands }) => bands.frequency.length === 4)!
  assert.deepEqual([...wider.bands.frequency], [0.02, 0.0325, 0.0925, 0.1])
  assert.deepEqual([...wider.direction], [NaN, NaN, 92, 60])
  const many = Array.from(
    { length: 20 },
    (_, i) => `2020 06 08 04 ${10 + i} 0.2 1.0 (0.1) 1.0 (${2 + i}.5)\n`,
  )
  const other = await readFiles(
    t,
    live({ data_spec: LIVE.data_spec.split('\n', 1)[0] + '\n' + many.join('') }),
  )
  assert.match(other.bad.join(), /more than 16 sets of bands|do not ascend/)
})

test('A row that is cut off is bad wherever it ends, and the rows before it stay.', async (t) => {
  const text = LIVE.data_spec.trimEnd()
  const last = text.lastIndexOf('\n') + 1
  for (let end = last + 5; end < text.length; end += 3) {
    const { spectra, bad } = await readFiles(t, live({ data_spec: text.slice(0, end) }))
    assert.deepEqual(
      [spectra.map(({ time }) => time), bad.length],
      [['2020-06-08T03:50:00Z'], 1],
      text.slice(last, end),
    )
  }
  const short = await readFiles(t, annual({ w: ANNUAL.w.slice(0, -8) }))
  assert.match(short.bad.join(), /:3 wrong number of fields/)
  assert.equal(short.spectra.length, 1)
})

test('Directions of times without a spectrum, impossible densities, empty spectra and other scales are counted.', async (t) => {
  const moved = await readFiles(t, live({ swdir: LIVE.swdir.replace('03 50', '03 20') }))
  assert.equal(moved.skipped.get('41010: directions of a time without a spectrum'), 1)
  assert.deepEqual([...moved.spectra[0].direction], [NaN, NaN, NaN])
  const wrong = (from: string, to: string) =>
    readFiles(t, live({ data_spec: LIVE.data_spec.replace(from, to) }))
  for (const [to, reason] of [
    ['0.000 (0.033) -0.024 (0.093)', 'a spectrum with a density below 0'],
    ['0.000 (0.033) 999.0 (0.093)', 'a spectrum without a density in a band'],
  ]) {
    const { skipped, spectra } = await wrong('0.000 (0.033) 0.024 (0.093)', to)
    assert.deepEqual([skipped.get(`41010: ${reason}`), spectra.length], [1, 1])
  }
  const empty = await wrong(
    '0.000 (0.033) 0.024 (0.093) 0.060 (0.100)',
    '0.0 (0.033) 0.0 (0.093) 0.0 (0.100)',
  )
  assert.equal(empty.skipped.get('41010: a spectrum without energy in any band'), 1)
  const hundredths = await readFiles(t, live({ swr1: LIVE.swr1.replaceAll(/0\.(\d\d) /g, '$1 ') }))
  assert.equal(hundredths.skipped.get('41010: r1 or r2 outside 0 to 1'), 4)
  assert.deepEqual([...hundredths.spectra[0].r1], [NaN, NaN, NaN])
  const ones = await readFiles(t, annual({ j: ANNUAL.j.replaceAll(/ {4}(\d\d)/g, '  0.$1') }))
  assert.match(ones.bad.join(), /r1 and r2 of an annual file are not in hundredths/)
  const nan = await readFiles(t, live({ swdir: LIVE.swdir.replace('136.0', '1x6.0') }))
  assert.match(nan.bad.join(), /no pairs of a value and a frequency/)
  const never = await readFiles(t, live({ data_spec: LIVE.data_spec.replace('06 08 03', '06 31 03') }))
  assert.match(never.bad.join(), /no valid date and time/)
  const headless = await readFiles(t, annual({ w: ANNUAL.w.split('\n').slice(1).join('\n') }))
  assert.match(headless.bad.join(), /does not name frequencies/)
})

test('A page of a web server in place of a file, and one of an unknown station, make no spectrum.', async (t) => {
  const page = await readFiles(t, live({ swdir: '<html>\n<body>404 Not Found</body>\n</html>\n' }))
  assert.equal(page.spectra.length, 2)
  assert.match(page.bad.join(), /41010.swdir:1/)
  const other = await readFiles(t, { ...live(), 'realtime2/99999.data_spec': LIVE.data_spec })
  assert.match(other.doubts.join(), /files or folders are not read.*99999.data_spec/)
})
