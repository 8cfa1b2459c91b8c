/** What all formats of text share: fields, numbers, units, times, files and folders. */
import assert from 'node:assert/strict'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { NO_CODE } from '../../src/sea/row-batch.ts'
import { type FileReport, UNCOUNTED } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import {
  cleanName,
  decode,
  degreesOf,
  Fields,
  splitBlanks,
  splitSeparated,
  textsOf,
} from '../../src/sources/reading/fields.ts'
import { knownColumn, readValues } from '../../src/sources/reading/measured-values.ts'
import { numberAt, codeOf, NO_VALUE, numberOf, valueColumn } from '../../src/sources/reading/units.ts'
import { epochSeconds, isoTime, timeReader } from '../../src/sources/reading/times.ts'
import { listFolder, readText } from '../../src/sources/reading/source-files.ts'
import { KINDS, openKind } from '../../src/sources/kinds.ts'
import { folderOf, recordSource } from './recorder.ts'
import { MEASURE_NAMES } from '../../src/sea/columns.ts'

const COMMA = 44

function reporting(): { file: FileReport; bad: string[]; skipped: string[] } {
  const bad: string[] = []
  const skipped: string[] = []
  const file = {
    rows: () => {},
    skipped: (reason: string) => void skipped.push(reason),
    bad: (line: number, reason: string) => void bad.push(`${line} ${reason}`),
    end: () => true,
  }
  return { file, bad, skipped }
}

test('Epoch seconds agree with the calendar of Date, and impossible dates are refused', () => {
  const part = (max: number) => fc.integer({ min: -1, max })
  fc.assert(
    fc.property(
      fc.integer({ min: 1960, max: 2110 }),
      part(14),
      part(33),
      part(25),
      part(61),
      part(61),
      (y, mo, d, h, mi, s) => {
        const date = new Date(Date.UTC(y, mo - 1, d, h, mi, s))
        const exists =
          date.getUTCFullYear() === y &&
          date.getUTCMonth() === mo - 1 &&
          date.getUTCDate() === d &&
          date.getUTCHours() === h &&
          date.getUTCMinutes() === mi &&
          date.getUTCSeconds() === s
        const seconds = date.getTime() / 1000
        const expected = exists && seconds >= 0 && seconds < 2 ** 32 ? seconds : -1
        assert.equal(epochSeconds(y, mo, d, h, mi, s), expected)
      },
    ),
    { numRuns: 2000 },
  )
  assert.equal(epochSeconds(2023, 2, 30, 0, 0, 0), -1)
  assert.equal(epochSeconds(2100, 2, 29, 0, 0, 0), -1)
  assert.equal(epochSeconds(2000, 2, 29, 0, 0, 0), 951_782_400)
})

test('ISO times are read with their offset, and without one only where that is the format', () => {
  const noon = Date.UTC(2024, 1, 29, 12) / 1000
  for (const text of [
    '2024-02-29T12:00Z',
    '2024-02-29T12:00:00Z',
    '2024-02-29t12:00:00z',
    '2024-02-29 12:00:00.000Z',
    '2024-02-29T13:00:00+01:00',
    '2024-02-29T13:00:00+0100',
    '2024-02-29T13:00+01',
    '2024-02-29T08:30:00-03:30',
    '2024-02-29 12:00:00.0000000 +00:00',
    '2024-02-29 12:00:00.123456+00',
    '2024-02-29 12:00:00 UTC',
  ]) {
    assert.equal(isoTime(text, null), noon, text)
    assert.equal(isoTime(text), noon, text)
  }
  assert.equal(isoTime('2024-02-29 12:00:00'), noon)
  for (const text of [
    '2024-02-29T12:00:00',
    '2024-02-29',
    '2024-02-29T12Z',
    '1970-01-01T00:00:00+01:00',
    '',
  ]) {
    assert.equal(isoTime(text, null), -1, text)
  }
})

test('A line of separated fields comes back as it was quoted', () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', ' ', '\n', '\r\n', '7'), maxLength: 6 })
  fc.assert(
    fc.property(fc.array(fc.array(field, { minLength: 1, maxLength: 5 }), { maxLength: 5 }), (lines) => {
      const text = lines
        .map((line) => line.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',') + '\r\n')
        .join('')
      const bytes = Buffer.from(text)
      const fields = new Fields()
      const read: string[][] = []
      let physicalLines = 0
      for (let at = 0; at < bytes.length; at = fields.next) {
        splitSeparated(bytes, at, COMMA, fields)
        assert.equal(fields.fault, null)
        physicalLines += fields.lines
        read.push(textsOf(bytes, fields))
      }
      assert.deepEqual(read, lines)
      assert.equal(physicalLines, text.split('\n').length - 1)
    }),
  )
})

test('Unquoted fields are trimmed, empty ones are kept, and stray quotes are faults of their line only', () => {
  const fields = new Fields()
  const split = (text: string, separator = COMMA) => {
    const bytes = Buffer.from(text)
    splitSeparated(bytes, 0, separator, fields)
    return [fields.fault, ...textsOf(bytes, fields)]
  }
  assert.deepEqual(split(' a ,,b\t,\r\nnext'), [null, 'a', '', 'b', ''])
  assert.equal(fields.next, 10)
  assert.deepEqual(split('a;b,c', 59), [null, 'a', 'b,c'])
  assert.deepEqual(split('a,say "hi",b'), [null, 'a', 'say "hi"', 'b'])
  assert.equal(split('a,"b"c,d\nnext')[0], 'text after a closing quote')
  assert.equal(fields.next, 9)
  assert.equal(split(`a,"b\n${'x'.repeat(70_000)}"`)[0], 'a quote is not closed')
  assert.equal(fields.next, 5)
})

test('A line of columns splits on runs of blanks and tabs', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '1', 'x', '.'), maxLength: 40 }),
      (line) => {
        const bytes = Buffer.from(`${line}\nrest`)
        const fields = new Fields()
        splitBlanks(bytes, 0, fields)
        assert.deepEqual(
          textsOf(bytes, fields),
          line.split(/[ \t\r]+/).filter((text) => text !== ''),
        )
        assert.equal(fields.next, line.length + 1)
      },
    ),
  )
})

test('No bytes make a splitter stand still, and a line of too many fields is counted, not kept', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const fields = new Fields()
      for (let at = 0; at < bytes.length; at = fields.next) {
        splitSeparated(bytes, at, COMMA, fields)
        assert.ok(fields.next > at)
        textsOf(bytes, fields)
      }
      for (let at = 0; at < bytes.length; at = fields.next) {
        splitBlanks(bytes, at, fields)
        assert.ok(fields.next > at)
      }
    }),
  )
  const fields = new Fields()
  splitSeparated(Buffer.from(','.repeat(100_000)), 0, COMMA, fields)
  assert.equal(fields.count, 100_001)
  splitBlanks(Buffer.from('1 '.repeat(100_000)), 0, fields)
  assert.equal(fields.count, 100_000)
})

test('Measured fields become codes: converted and rounded once, beyond the limits missing and counted', () => {
  const { file, bad, skipped } = reporting()
  const code = (name: Parameters<typeof knownColumn>[0], text: string, unit?: 'm/s' | 'K') => {
    const bytes = Buffer.from(text)
    const table = { text: () => text, row: () => 1, number: () => numberAt(bytes, 0, bytes.length, true) }
    const codes = new Int32Array(1)
    const isRead = readValues(table, [knownColumn(name, 0, 'X', { unit, missing: [99] })], codes, file)
    return isRead ? codes[0] : bad.pop()
  }
  for (let tenths = 0; tenths <= 1388; tenths++) {
    if (tenths === 990) continue
    assert.equal(code('windSpeed', `${Math.floor(tenths / 10)}.${tenths % 10}`, 'm/s'), tenths * 36)
  }
  assert.equal(code('windSpeed', '1.01', 'm/s'), 364, '3.636 km/h')
  assert.equal(code('windSpeed', '0.0125', 'm/s'), 5, '0.045 km/h is rounded up')
  assert.equal(code('significantHeight', '2.345'), 2345)
  assert.equal(code('significantHeight', '25.0004'), 25_000)
  assert.equal(code('waterTemperature', '-1.745'), -175, 'halves go away from zero')
  assert.equal(code('waterTemperature', '285.15', 'K'), 1200)
  assert.equal(code('waterTemperature', '271.405', 'K'), -175)
  assert.equal(code('significantHeight', 'two'), '1 X is not a decimal number')
  assert.equal(code('direction', '360'), 0)
  assert.deepEqual(skipped, [])
  for (const text of ['', 'MM', '99', '99.00']) assert.equal(code('significantHeight', text), NO_CODE, text)
  assert.deepEqual(skipped, [])
  assert.equal(code('significantHeight', '25.001'), NO_CODE)
  assert.equal(code('significantHeight', '-0.1'), NO_CODE)
  assert.equal(code('direction', '360.01'), NO_CODE)
  assert.equal(code('direction', '-10'), NO_CODE)
  assert.equal(code('waterTemperature', '98765432109876543210'), NO_CODE)
  assert.deepEqual(skipped, [
    'X outside 0 to 25 m',
    'X outside 0 to 25 m',
    'X outside 0 to 359.99 degree',
    'X outside 0 to 359.99 degree',
    'X outside -5 to 45 °C',
  ])
})

test('Text is UTF-8 or else Latin-1, and names lose control characters and double blanks', () => {
  assert.equal(decode(Buffer.from('Île')), 'Île')
  assert.equal(decode(Buffer.from([0xce, 0x6c, 0x65])), 'Île')
  assert.equal(cleanName('  Cape  Fear\u0000\r\n(013) '), 'Cape Fear (013)')
  assert.equal(cleanName('x'.repeat(1000)).length, 200)
  assert.equal(degreesOf('-180', 180), -180)
  assert.equal(degreesOf("48°17.420'N", 90), 48.290_333)
  assert.equal(degreesOf("004°58.100'W", 180), -4.968_333)
  assert.equal(degreesOf('33° 30′ 36″ S', 90), -33.51)
  for (const text of ["48°17.4'W", "48°60'N", "90°0.1'N", "48°17'", "48°17'n"])
    assert.ok(Number.isNaN(degreesOf(text, 90)), text)
  for (const text of ['180.1', '', 'x', '1e1', '0x10', ' 1']) {
    assert.ok(Number.isNaN(degreesOf(text, 180)), text)
  }
})

test('Plain and gzip files are recognized by content, and a byte order mark is left out', async (t) => {
  const folder = await folderOf(t, {
    plain: '\ufeffone\ntwo\n',
    'zipped.txt': gzipSync('\ufeffone\ntwo\n'),
    members: Buffer.concat([gzipSync('one\n'), gzipSync('two\n')]),
    empty: '',
  })
  const { file, bad } = reporting()
  const read = async (name: string) => (await readText(join(folder, name), file)).toString()
  assert.equal(await read('plain'), 'one\ntwo\n')
  assert.equal(await read('zipped.txt'), 'one\ntwo\n')
  assert.equal(await read('members'), 'one\ntwo\n')
  assert.equal(await read('empty'), '')
  assert.deepEqual(bad, [])
})

test('A gzip file that is cut off or damaged gives the whole lines before the fault and one bad line', async (t) => {
  const lines = Array.from({ length: 50_000 }, (_, i) => `line ${i} ${(i * 7919) % 1013}\n`)
  const all = lines.join('')
  const whole = gzipSync(all)
  const middle = whole.length >> 1
  const damaged = Buffer.from(whole)
  damaged.fill(0xff, middle, middle + 64)
  const folder = await folderOf(t, {
    cut: whole.subarray(0, middle),
    damaged,
    checksum: Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)]),
    head: whole.subarray(0, 5),
  })
  for (const name of ['cut', 'damaged', 'checksum', 'head']) {
    const { file, bad } = reporting()
    const kept = (await readText(join(folder, name), file)).toString()
    // Damage in the middle can turn into a little nonsense before it is noticed.
    const sound = name === 'damaged' ? kept.slice(0, all.length / 4) : kept
    assert.ok(all.startsWith(sound), name)
    assert.ok(kept === '' || kept.endsWith('\n'), name)
    assert.deepEqual(bad, [`${kept.split('\n').length} the gzip data is damaged or cut off here`])
    if (name !== 'head') assert.ok(kept.length > all.length / 4, 'what came before the fault is kept')
  }
})

test('A file beyond the size limit stops the build, before and after decompression', async (t) => {
  const folder = await folderOf(t, { plain: 'x'.repeat(1001), bomb: gzipSync(Buffer.alloc(10_000_000)) })
  const { file } = reporting()
  await writeFile(join(folder, 'cut-bomb'), gzipSync(Buffer.alloc(10_000_000)).subarray(0, -20))
  await assert.rejects(readText(join(folder, 'plain'), file, 1000), BuildError)
  await assert.rejects(readText(join(folder, 'bomb'), file, 100_000), /larger than 100000 bytes/)
  await assert.rejects(readText(join(folder, 'cut-bomb'), file, 100_000), BuildError)
  await assert.rejects(readText(join(folder, 'absent'), file), /cannot be read \(ENOENT\)/)
  assert.equal((await readText(join(folder, 'plain'), file, 1001)).length, 1001)
})

/** Why a folder with these files gives nothing. */
const NOTHING: [kind: string, files: { [name: string]: string }, reason: RegExp][] = [
  ['altimetry', {}, /holds no \.nc/],
  ['cmems', { 'a.txt': '' }, /holds no \.nc/],
  ['candhis', { 'candhis_stations.csv': 'ID,name,lat,lon\n' }, /holds no files that are read: not Candhis_/],
  ['meteofrance', { 'notes.txt': 'x' }, /holds no files that are read: not marine\.YYYYMMDD\.csv/],
  ['ndbc', { '41001.txt': '' }, /neither activestations\*\.xml nor/],
  ['ndbc', { 'activestations.xml': '<stations></stations>' }, /holds no data files/],
  ['tides', { 'a.json': '{' }, /a\.json: is not JSON/],
]

test('Every kind of source refuses a folder that is not there, and a file in its place, by name', async (t) => {
  const folder = await folderOf(t, { file: '' })
  for (const kind of Object.keys(KINDS).filter((one) => one !== 'demo')) {
    for (const [name, reason] of [
      ['absent', `there is no folder ${folder}/absent`],
      ['file', `there is no folder ${folder}/file`],
    ]) {
      await assert.rejects(recordSource(openKind(kind, join(folder, name))), {
        name: 'BuildError',
        message: `${kind}: ${reason}`,
      })
    }
  }
})

for (const [kind, files, reason] of NOTHING) {
  test(`A folder of ${kind} with ${Object.keys(files).join() || 'nothing'} ends the build with a reason`, async (t) => {
    const reading = recordSource(openKind(kind, await folderOf(t, files)))
    await assert.rejects(reading, (error) => error instanceof BuildError && reason.test(error.message))
  })
}

const codeIn = (measure: (typeof MEASURE_NAMES)[number], unit: string, value: number): number | null => {
  const column = valueColumn(measure, measure, unit)
  return column === null ? null : codeOf(column, value, UNCOUNTED)
}

test('A link in a folder counts as what it leads to, and one that leads out of it stops the build', async (t) => {
  const folder = await folderOf(t, { 'top/a/one.txt': '1', 'top/two.txt': '2', 'outside.txt': '3' })
  const top = join(folder, 'top')
  await symlink('a/one.txt', join(top, 'inside.txt'))
  await symlink('../two.txt', join(top, 'a', 'up.txt'))
  await symlink('nowhere', join(top, 'broken.txt'))
  const { files } = (await listFolder(top, 2))!
  assert.deepEqual(files, ['inside.txt', 'two.txt', 'a/one.txt', 'a/up.txt'])
  for (const to of [join(top, '..', 'outside.txt'), '../../outside.txt', '../..', '/etc']) {
    const link = join(top, 'a', 'out')
    await symlink(to, link)
    await assert.rejects(listFolder(top, 2), (error) => {
      assert.ok(error instanceof BuildError)
      return error.message.startsWith(`${link}: is a link to a place outside of ${top}`)
    })
    await rm(link)
  }
})

test('One unit in its many spellings is one unit', () => {
  const speeds = ['m s-1', 'm.s-1', 'm s**-1', 'm s^-1', 'm s⁻¹', 'm/s', 'm / s', 'M/S', 'meters/second']
  speeds.push('meter second-1', 'meters per second', 'metre_second-1', 'm/sec')
  for (const unit of speeds) assert.equal(codeIn('windSpeed', unit, 10), 3600, unit)
  const temperatures = [
    'degree_C',
    'degrees_C',
    'degree_Celsius',
    'Celsius',
    'deg_C',
    'degC',
    '°C',
    '° C',
    'C',
  ]
  for (const unit of temperatures) assert.equal(codeIn('waterTemperature', unit, 15.5), 1550, unit)
  const directions = ['degree', 'degrees', 'degrees_true', 'degree_T', 'degrees true', 'deg', 'degT', '°']
  for (const unit of directions) assert.equal(codeIn('direction', unit, 15.5), 1550, unit)
  // UCUM: the international foot and knot, and what it calls degrees and miles.
  assert.equal(codeIn('significantHeight', '[ft_i]', 10), 3048)
  assert.equal(codeIn('windSpeed', '[kn_i]', 10), 1852)
  assert.equal(codeIn('windSpeed', '[nmi_i]/h', 10), 1852)
  assert.equal(codeIn('windSpeed', '[mi_i]/h', 10), 1609)
  assert.equal(codeIn('waterTemperature', 'Cel', 15.5), 1550)
  assert.equal(codeIn('waterTemperature', '[degF]', 50), 1000)
})

test('A unit of another quantity, a misspelt one and none are not known', () => {
  for (const unit of ['', '1', 's', 'feat', 'm s-2', 'toString', '__proto__', 'm'.repeat(1000)]) {
    assert.equal(valueColumn('significantHeight', 'hs', unit), null, unit)
  }
  assert.equal(valueColumn('windSpeed', 'wind', 'm'), null)
  assert.equal(valueColumn('direction', 'mwd', 'degree_C'), null)
})

test('Values are rounded half up once, as their decimals say', () => {
  assert.equal(codeIn('waterTemperature', 'degree_C', 13.385), 1339)
  assert.equal(codeIn('waterTemperature', 'degree_C', -1.385), -139)
  assert.equal(codeIn('direction', 'degree', 359.995), 0)
  assert.equal(codeIn('direction', 'degree', -90), 27_000)
  assert.equal(codeIn('direction', 'degree', 720), -0x8000)
  const thousandth = fc.integer({ min: 0, max: 25_000 })
  fc.assert(
    fc.property(thousandth, (count) => {
      assert.equal(codeIn('significantHeight', 'm', Number((count / 1000).toFixed(3))), count)
      assert.equal(codeIn('significantHeight', 'mm', count), count)
      // A knot is 1,852 m an hour.
      assert.equal(codeIn('windSpeed', 'knots', count / 1000), Math.floor((count * 1852 + 5000) / 10_000))
    }),
  )
})

test('Numbers read from bytes are those that the language reads from text', () => {
  const decimals = fc
    .tuple(fc.constantFrom('', '-', '+'), fc.stringMatching(/^\d{0,20}$/), fc.stringMatching(/^\.?\d{0,20}$/))
    .map((parts) => parts.join(''))
  const texts = fc.oneof(decimals, fc.double().map(String), fc.string({ maxLength: 12 }))
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = Buffer.from(`,${text};`)
      assert.deepEqual(
        numberAt(bytes, 1, bytes.length - 1),
        NO_VALUE.has(text.toUpperCase()) ? NaN : numberOf(text),
      )
      const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text) && text.length <= 40
      if (isNumber) assert.equal(numberOf(text), Number(text))
      else assert.ok(numberOf(text) === null || Number.isNaN(numberOf(text)), text)
    }),
    { numRuns: 2000 },
  )
})

test('Times are read as the language reads them, and no other texts', () => {
  const moments = fc.integer({ min: 0, max: 0xffff_ffff })
  const offsets = fc.integer({ min: -23 * 60, max: 23 * 60 })
  fc.assert(
    fc.property(moments, offsets, fc.integer({ min: 0, max: 999 }), (seconds, offset, millis) => {
      const iso = new Date(seconds * 1000 + millis).toISOString()
      assert.equal(isoTime(iso), seconds)
      assert.equal(isoTime(iso.replace(/\.\d+Z/, 'Z')), seconds)
      assert.equal(isoTime(iso.slice(0, 19)), seconds)
      const sign = offset < 0 ? '-' : '+'
      const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
      const zone = `${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
      const utc = Date.parse(iso.replace('Z', zone)) / 1000
      const expected = utc >= 0 && utc < 2 ** 32 ? Math.floor(utc) : -1
      assert.equal(isoTime(iso.replace('Z', zone)), expected)
      assert.equal(isoTime(iso.slice(0, 19), offset * 60), expected)
    }),
  )
  for (const text of [
    '',
    '2024-01-01',
    '2024-02-30T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:00:00X',
  ]) {
    assert.equal(isoTime(text), -1, text)
  }
  assert.equal(isoTime('2024-01-01T00:00:60Z'), -1)
  assert.equal(isoTime('1969-12-31T23:59:59Z'), -1)
  assert.equal(timeReader('seconds since 1970-01-01T00:00:00Z')?.('4294967296'), -1)
  assert.equal(timeReader('seconds since 1970-01-01T00:00:00Z')?.('NaN'), -1)
  assert.equal(timeReader('days since 2023-02-30'), null)
})
