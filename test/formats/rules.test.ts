/** What the formats promise: rules of CSV, parameters, `Accept`, heads, lines and prices. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { csvText } from '../../src/dataset/cells.ts'
import { OPERATIONS } from '../../src/routes.ts'
import { preferredFormat } from '../../src/operation/preferences.ts'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { examplesSnapshots } from '../built_once.ts'
import { parseCsv } from './parse.ts'

const path = new AskedPath(await viewOf(await examplesSnapshots()))
const get = (url: string, more = {}) => path.get(`/v2${url}`, { ...KEYED, ...more })

test('Every text comes out of CSV as it went in, and none begins like a formula.', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ unit: 'binary' }), nasty), { minLength: 1 }), (texts) => {
      const [fields] = parseCsv(`${texts.map(csvText).join(',')}\r\n`)
      fields.forEach((field, i) => {
        assert.doesNotMatch(field, /^[=+\-@\t\r\n＝＋－＠]/)
        assert.equal(field.startsWith("'") && field.slice(1) === texts[i] ? texts[i] : field, texts[i])
      })
    }),
    { numRuns: 500 },
  )
})

const nasty = fc.constantFrom(
  ...'=1+1 +A1 -2 @SUM(A1) ＝1+1 ＋A1 －2 ＠SUM(A1) " a,b'.split(' '),
  '\t=1',
  '\r\n=1',
  'a\nb',
  '',
  "'",
  `=HYPERLINK("http://x","y")`,
)

test('Passes are lines through the buoys they saw, in parts where they cross the antimeridian.', () => {
  const { text } = get('/buoys/satellite_passes?limit=100&active_only=false&format=geojson')
  const { features } = JSON.parse(text) as {
    features: {
      geometry: { type: string; coordinates: unknown } | null
      properties: { buoy_count: number }
    }[]
  }
  assert.ok(features.length > 50)
  for (const { geometry, properties } of features) {
    if (geometry === null) {
      assert.equal(properties.buoy_count, 0)
      continue
    }
    if (properties.buoy_count === 1) assert.equal(geometry.type, 'Point')
    if (geometry.type === 'Point') continue
    const { coordinates } = geometry
    const lines = (geometry.type === 'LineString' ? [coordinates] : coordinates) as [number, number][][]
    for (const line of lines) {
      assert.ok(line.length >= 2)
      for (let i = 1; i < line.length; i++) assert.ok(Math.abs(line[i][0] - line[i - 1][0]) <= 180)
    }
    for (let i = 1; i < lines.length; i++) {
      const [end, start] = [lines[i - 1].at(-1)!, lines[i][0]]
      assert.deepEqual([Math.abs(end[0]), start[0], start[1]], [180, -end[0], end[1]])
    }
  }
})

const refused = (url: string): string => {
  const answer = get(url)
  assert.equal(answer.status, 400, url)
  assert.equal(answer.headers['content-type'], 'application/json')
  const { message, details } = JSON.parse(answer.text) as {
    message: string
    details: { parameter: string }
  }
  return `${details.parameter}: ${message.slice(message.indexOf('Allowed'))}`
}

test('A format that is unknown, or makes no sense of an operation, is a 400 that names those it has.', () => {
  for (const { path: template } of OPERATIONS.filter(({ tables }) => tables === undefined)) {
    const url = template.replace('{buoy_id}', 'anglet').replace('{reading_id}', '1')
    assert.equal(refused(`${url}?format=csv`), 'format: Allowed: json')
    assert.equal(refused(`${url}?layout=columns`), 'layout: Allowed: rows')
    assert.equal(refused(`${url}?units=1`), 'units: Allowed: 0')
    assert.equal(
      refused(`${url}?fields=id`),
      'fields: Allowed: on operations that answer in other formats than json',
    )
    assert.doesNotMatch(get(`${url}?layout=rows&units=0&fields=`).text, /Parameter (layout|units|fields)/)
    assert.notEqual(get(`${url}?format=json`).text.includes('Parameter format'), true)
  }
  const lists = 'format: Allowed: one of json, csv, ndjson, geojson'
  const plain = 'format: Allowed: one of json, csv, ndjson'
  const units =
    'units: Allowed: 0; with format=csv also 1, which adds a row of units, and name, which puts them after the names of columns'
  const outcomes: [url: string, outcome: string][] = [
    ...['xml', 'CSV', 'csv,json', '%00', 'csv&format=json', '%ff'].map((format): [string, string] => [
      `/buoys?format=${format}`,
      lists,
    ]),
    ['/buoys/anglet/readings?format=arrow', `${lists}, parquet`],
    ['/buoys?format=parquet', lists],
    ['/buoys/anglet/readings/chart?format=parquet', plain],
    ['/buoys/anglet/readings/series?format=parquet', plain],
    ['/countries?format=parquet', plain],
    ['/countries?format=geojson', plain],
    ['/buoys/anglet?format=parquet', lists],
    ['/buoys/anglet/readings?format=parquet&units=1', units],
    ['/buoys?units=1', units],
    ['/buoys?layout=columns&format=csv', 'layout: Allowed: rows'],
    ['/buoys/anglet/readings/chart?fields=time', 'fields: Allowed: with format=csv or ndjson'],
  ]
  for (const [url, outcome] of outcomes) assert.equal(refused(url), outcome, url)
  assert.match(
    refused('/buoys/anglet/readings?format=parquet&fields=id,id'),
    /^fields: Allowed: names once each/,
  )
  // The name of JSON, where the table has another.
  assert.match(
    refused('/buoys/nearest?lat=43&lng=-2&format=csv&fields=buoy.id'),
    /^fields: .* of id, name, lat/,
  )
  const countries = 'fields: Allowed: names once each, separated by commas, of code, name, buoy_count'
  for (const fields of [
    'x',
    'code,code',
    'code,',
    ',',
    'code,name,x',
    'CODE',
    Array(500).fill('code').join(),
  ]) {
    const outcome = refused(`/countries?format=csv&fields=${fields}`)
    assert.ok(outcome === countries || outcome.includes('separated by commas, once each'), outcome)
  }
  assert.equal(get('/buoys?format=csv&format=').status, 200, 'an empty value counts as absent')
})

test('A path may end in a format, and CSV may have a byte order mark and units behind names.', () => {
  for (const [ending, of] of [
    ['/buoys.csv?per_page=2', '/buoys?per_page=2&format=csv'],
    ['/buoys/map.geojson', '/buoys/map?format=geojson'],
    [
      '/buoys/anglet/readings.parquet?format=parquet&per_page=3',
      '/buoys/anglet/readings?format=parquet&per_page=3',
    ],
    ['/countries.ndjson', '/countries?format=ndjson'],
  ] as const) {
    const [got, wanted] = [get(ending), get(of)]
    assert.equal(got.status, 200, got.text)
    assert.ok(got.bytes.equals(wanted.bytes), ending)
    assert.equal(got.headers['etag'], wanted.headers['etag'])
  }
  assert.equal(refused('/buoys.csv?format=json'), 'format: Allowed: one of json, csv, ndjson, geojson')
  for (const path of ['/buoys.json', '/buoys.CSV', '/nowhere.csv', '/.csv'])
    assert.equal(get(path).status, 404, path)
  const plain = '/buoys.csv?fields=last_reading.period,id&per_page=1'
  const [head, ...lines] = get(plain).text.split('\r\n')
  assert.equal(head, 'last_reading.period,id')
  const named = get(`${plain}&units=name&bom=1`).text
  assert.deepEqual(named.split('\r\n'), ['\ufefflast_reading.period (s),id', ...lines])
  assert.equal(refused('/buoys?bom=1'), 'bom: Allowed: 0')
  assert.equal(
    refused('/buoys?format=geojson&units=name'),
    'units: Allowed: 0; with format=csv also 1, which adds a row of units, and name, which puts them after the names of columns',
  )
})

test('units adds a line; a JSON list has the columns that fields picks, and a line without a value is no empty line.', () => {
  const shaped = '/buoys?format=csv&units=1&fields=last_reading.period,last_reading.time,id&per_page=1'
  assert.deepEqual(parseCsv(get(shaped).text)[1], ['s', 'UTC', ''])
  const beside = parseCsv(get('/buoys/anglet/readings?format=csv&fields=buoy.name,time&per_page=1').text)
  assert.equal(beside[1][0], 'Anglet')
  const { data } = JSON.parse(get('/buoys?fields=id,name&per_page=2').text) as { data: { buoys: object[] } }
  for (const buoy of data.buoys) assert.deepEqual(Object.keys(buoy), ['id', 'name'])
  const single = parseCsv(get('/buoys/map?format=csv&fields=pass_id').text)
  assert.ok(single.length > 40 && single.every((fields) => fields.length === 1))
})

test('Accept chooses a format where the query does not; what we do not offer is JSON.', () => {
  const all = ['json', 'csv', 'ndjson', 'geojson', 'parquet'] as const
  const cases: [string, string][] = [
    ['', 'json'],
    ['*/*', 'json'],
    ['text/csv', 'csv'],
    ['TEXT/CSV; header=present', 'csv'],
    ['application/x-ndjson, application/json;q=0.5', 'ndjson'],
    ['application/json, text/csv', 'json'],
    ['text/csv;q=0.5, application/geo+json;q=0.9, */*;q=1', 'geojson'],
    ['application/vnd.apache.parquet', 'parquet'],
    ['text/csv;q=0', 'json'],
    ['text/csv;q=0, application/geo+json', 'geojson'],
    ['application/json;q=0, */*', 'json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['application/pdf', 'json'],
    ['text/csv;q=2', 'json'],
    ['text/csv;q=x', 'json'],
    ['text/csv;;;', 'csv'],
    ['csv', 'json'],
    ['text/csv, <script>', 'json'],
    [',,text/csv,,', 'csv'],
    [`text/csv, ${'a/b,'.repeat(400)}`, 'json'],
    ['\u0000', 'json'],
  ]
  for (const [accept, format] of cases) assert.equal(preferredFormat(accept, all), format, accept)
  assert.equal(preferredFormat('application/geo+json', ['json', 'csv']), 'json')
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (accept) => void preferredFormat(accept, all)))
  const { length } = get('/files', { accept: 'text/csv' }).headers.vary.split(', ')
  assert.equal(length, 2, 'an operation without tables does not depend on Accept')
})

test('The name of the file is of our own making, and a page says how many there are and where the others are.', () => {
  const { headers: head } = get(
    '/buoys/anglet/readings?format=csv&per_page=5&page=2&start_date=2026-10-30&end_date=2026-10-31',
  )
  assert.equal(
    head['content-disposition'],
    'attachment; filename="groundswell_anglet_readings_2026-10-30_2026-10-31.csv"',
  )
  const total = Number(head['x-total-count'])
  assert.ok(total > 50)
  assert.match(head.link, /rel="next".*rel="prev".*rel="first".*rel="last"/)
  const next = /<([^>]*)>; rel="next"/.exec(head.link)![1]
  const lines = parseCsv(get(`/buoys/anglet/readings${next}`).text)
  assert.equal(lines.length, 6)
  for (const url of [
    '/buoys/search?query=%22%0d%0aX-Evil:%201&format=csv',
    '/conditions?lat=1&lng=2&format=csv',
  ]) {
    const answer = get(url)
    if (answer.status !== 200) continue
    assert.match(answer.headers['content-disposition'], /^attachment; filename="[A-Za-z0-9._-]+"$/)
  }
})

test('Without a page there is everything; a range without readings has the names of the columns alone.', () => {
  const whole = parseCsv(get('/buoys/anglet/readings?format=csv&order=asc').text)
  const { count } = (JSON.parse(get('/buoys/anglet/readings').text) as { data: { count: number } }).data
  assert.equal(whole.length, count + 1)
  const at = whole[0].indexOf('time')
  const times = whole.slice(1).map((fields) => fields[at])
  assert.deepEqual(times, [...new Set(times)].toSorted())
  for (const format of ['csv', 'ndjson', 'geojson']) {
    const { status, text } = get(`/buoys/anglet/readings?format=${format}&date=1999-01-01`)
    assert.equal(status, 200)
    if (format === 'csv') assert.match(text, /^id,uuid,[^\r]*\r\n$/)
    if (format === 'ndjson') assert.equal(text, '')
    if (format === 'geojson') assert.deepEqual((JSON.parse(text) as { features: object[] }).features, [])
  }
})
