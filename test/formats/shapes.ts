/**
 * Shapes that may be wrong for any request: a model of `fields`, `units`, `layout`, `Accept`, HEAD and
 * `If-None-Match` says what the answers must be.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Answered } from '../answered.ts'
import type { Json, JsonObject } from '../oracle/oracle.ts'
import { fieldOf, flat, parseCsv } from './parse.ts'
import {
  assertSameColumns,
  assertSameCsv,
  assertSameGeojson,
  assertSameNdjson,
  rowsOf,
  type Rows,
} from './same.ts'

export type Get = (url: string, headers?: { [name: string]: string }, method?: string) => Answered

const PAGED = /^(\/buoys(\/[a-z0-9-]+\/readings)?|\/readings)\?/
const NOT_LISTS = /\/chart|\/series|\/conditions|\/forecast/

/** The table of a JSON answer. */
function tableOf(get: Get, url: string, text: string): Rows {
  const body = JSON.parse(text) as JsonObject
  if (!url.startsWith('/conditions')) {
    const [, operation] = /\/(chart|series|nearest|forecast)(?:\?|$)/.exec(url) ?? ['', '']
    return rowsOf(operation, body, () => {
      const detail = get(url.replace(/\/readings\?.*/, ''))
      return (JSON.parse(detail.text) as { data: { buoy: { id: number } } }).data.buoy.id
    })!
  }
  const { nearby: _, ...data } = body.data as JsonObject
  const { lat, lng } = data.location as { lat: number; lng: number }
  return { items: [data], beside: [], places: [[lng, lat]] }
}

/** Without a page the other formats than JSON have everything. */
export const onePage = (url: string): string =>
  PAGED.test(url) && !/[?&](page|per_page)=[^&]/.test(url) ? `${url}&page=1` : url

/**
 * Whether every format of an answer says what its JSON says; null where the JSON is an error, as the others
 * are.
 */
export function assertSameFormats(get: Get, url: string): Rows | null {
  const json = get(url)
  const formats =
    NOT_LISTS.test(url) && !url.startsWith('/conditions') ? ['csv', 'ndjson'] : ['csv', 'ndjson', 'geojson']
  const offered = /\/countries|\/satellites/.test(url) ? ['csv', 'ndjson'] : formats
  if (json.status !== 200) {
    for (const format of offered) {
      const other = get(`${url}&format=${format}`)
      assert.equal(other.status, json.status, `${url} ${format}`)
      assert.equal(
        (JSON.parse(other.text) as JsonObject).message,
        (JSON.parse(json.text) as JsonObject).message,
      )
    }
    return null
  }
  const rows = tableOf(get, url, json.text)
  const whole = onePage(url)
  assertSameCsv(get(`${whole}&format=csv`).text, rows, url)
  assertSameNdjson(get(`${whole}&format=ndjson`).text, rows, url)
  if (offered.includes('geojson')) assertSameGeojson(get(`${whole}&format=geojson`).text, rows, url)
  if (!NOT_LISTS.test(url)) assertSameColumns(get(`${whole}&layout=columns`).text, rows, url)
  return rows
}

/** Texts of `fields`: places in the list of names, what nests them, and names that are none. */
export const fieldsTexts = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.nat({ max: 60 }) },
    { weight: 2, arbitrary: fc.constantFrom('@0', '@3', '@9') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', ' ', 'ID', 'id.', '__proto__', 'last_read', 'name,', '*', '=1+1', '%00'),
    },
  ),
  { minLength: 1, maxLength: 6 },
)

/** `fields` in the sense of a model: the names of columns that come, or null for a 400. */
function expanded(fields: readonly string[], names: readonly string[]): string[] | null {
  const found: string[] = []
  for (const field of fields) {
    const named = names.filter((name) => name === field || name.startsWith(`${field}.`))
    if (named.length === 0) return null
    found.push(...named)
  }
  return new Set(found).size === found.length ? found : null
}

export function assertShapes(get: Get, url: string, wishes: readonly (number | string)[]): boolean {
  const csv = get(`${url}&page=1&format=csv`)
  if (csv.status !== 200) return false
  const [names, ...lines] = parseCsv(csv.text)
  const fields = wishes
    .map((wish) => {
      if (typeof wish === 'number') return names[wish % names.length]
      return wish.startsWith('@') ? names[Number(wish.slice(1)) % names.length].split('.')[0] : wish
    })
    // `buoy` nests columns that CSV has only where they are named.
    .filter((field) => field !== 'buoy')
  // An empty value counts as absent.
  if (fields.join() === '') return false
  const wanted = expanded(fields.join().split(','), names)
  const query = `${url}&page=1&fields=${encodeURIComponent(fields.join())}`
  const shaped = get(`${query}&format=csv&units=1`)
  if (wanted === null) {
    assert.equal(shaped.status, 400, query)
    const { details } = JSON.parse(shaped.text) as { details: { parameter: string } }
    assert.equal(details.parameter, 'fields', query)
    return true
  }
  const [own, units, ...rows] = parseCsv(shaped.text)
  assert.deepEqual(own, wanted, query)
  assert.equal(units.length, own.length, query)
  const places = wanted.map((name) => names.indexOf(name))
  assert.deepEqual(
    rows,
    lines.map((line) => places.map((place) => line[place])),
    query,
  )
  const objects = get(`${query}&format=ndjson`).text.split('\n').slice(0, -1)
  assert.equal(objects.length, rows.length, query)
  objects.forEach((line, i) => {
    const members = flat(JSON.parse(line) as JsonObject)
    assert.deepEqual(
      rows[i],
      wanted.map((name) => fieldOf(members.get(name))),
      `${query} line ${i}`,
    )
  })
  if (!NOT_LISTS.test(url)) {
    const { data } = JSON.parse(get(`${query}&layout=columns`).text) as { data: { [key: string]: Json } }
    const list = Object.values(data).find((value) => Object.keys(value as object).join() === wanted.join())
    assert.ok(list !== undefined, query)
    assert.deepEqual(
      Object.values(list as { [name: string]: Json[] }).map((cells) => cells.map(fieldOf)),
      wanted.map((_, i) => rows.map((row) => row[i])),
      query,
    )
  }
  return true
}

const MEDIA = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  geojson: 'application/geo+json',
}

/** Ranges of `Accept` with weights in thousandths. */
export const accepts = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom('json', 'csv', 'ndjson', 'geojson', '*/*', 'text/html'),
    fc.integer({ min: 0, max: 1000 }),
  ),
  { minLength: 1, maxLength: 5, selector: ([name]) => name },
)

/** `Accept` chooses the format of the greatest weight; each form has its own head, tag and 304. */
export function assertAccepted(get: Get, url: string, ranges: readonly (readonly [string, number])[]): void {
  const accept = ranges
    .map(([name, weight]) => `${MEDIA[name as keyof typeof MEDIA] ?? name};q=${(weight / 1000).toFixed(3)}`)
    .join(', ')
  const offered = /\/countries|\/satellites|\/chart|\/series|\/forecast/.test(url)
    ? ['json', 'csv', 'ndjson']
    : Object.keys(MEDIA)
  const known = ranges.filter(([name, weight]) => offered.includes(name) && weight > 0)
  const best = Math.max(0, ...known.map(([, weight]) => weight))
  const format = known.find(([, weight]) => weight === best)?.[0] ?? 'json'
  const answer = get(url, { accept })
  if (answer.status !== 200) return
  const named = get(`${url}&format=${format}`)
  assert.equal(answer.headers['content-type'], named.headers['content-type'], `${url} ${accept}`)
  const withoutTime = (text: string): string => text.replace(/"timestamp":"[^"]*"/, '')
  assert.equal(withoutTime(answer.text), withoutTime(named.text), `${url} ${accept}`)
  const head = get(url, { accept }, 'HEAD')
  const [left, right] = [head, answer].map(({ headers }) => {
    // Of the moment: calls that are left, and seconds until the next snapshot is due.
    const { 'x-ratelimit-remaining': _calls, 'cache-control': _seconds, ...others } = headers
    return others
  })
  assert.deepEqual(left, right, `${url} ${accept}`)
  assert.equal(get(url, { accept, 'if-none-match': answer.headers.etag }).status, 304)
  const other = offered.find((name) => name !== format)!
  assert.equal(get(`${url}&format=${other}`, { 'if-none-match': answer.headers.etag }).status, 200, url)
}
