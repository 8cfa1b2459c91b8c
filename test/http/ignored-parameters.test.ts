/** What a client learns of parameters, slugs and paths that do not mean what it thinks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATIONS } from '../../src/routes.ts'
import { type AskedHeaders, AskedPath, KEYED, viewOf } from '../answered.ts'
import { smallSnapshot } from '../access/turned_clock.ts'
import { fieldOf } from '../fields.ts'

const view = await viewOf(await smallSnapshot())
const path = new AskedPath(view, { answerCache: 2 ** 20 })
const get = (url: string, more: AskedHeaders = {}, method = 'GET') =>
  path.get(`/v2${url}`, { ...KEYED, ...more }, method)
const ignored = (url: string): string | undefined => get(url).headers['x-ignored-parameters']

test('Parameters of other operations and usual mistakes are named, each once, in the order of the query.', () => {
  assert.equal(ignored('/buoys?limit=5'), 'limit')
  assert.equal(
    ignored('/buoys/1/readings?start=2026-01-01&limit=3&start=1&longitude=2'),
    'start, limit, longitude',
  )
  assert.equal(ignored('/buoys?ids%5B%5D=1&l%69mit=2'), 'ids[], limit', 'decoded names')
  assert.equal(ignored('/countries?per_page=3&format=json'), 'per_page')
  assert.equal(ignored('/buoys?limit='), undefined, 'an empty value is absent')
})

test('The header belongs to the request: kept answers, validators and other requests know nothing of it.', () => {
  const plain = get('/countries')
  for (let times = 0; times < 3; times++) {
    const named = get('/countries?limit=1')
    assert.equal(named.headers['x-ignored-parameters'], 'limit')
    assert.equal(named.headers.etag, plain.headers.etag)
    assert.equal(ignored('/countries'), undefined)
    assert.equal(ignored('/countries?lat=1'), 'lat')
  }
})

test('Any other name is never repeated, nor a value, nor what the operation takes.', () => {
  // `x` alone is a parameter of the climate's table.
  const others = ['zz', 'Limit', 'limit%0d%0aX-Evil:1', '%ff', '__proto__', 'a'.repeat(4000), '<script>']
  for (const name of others) assert.equal(ignored(`/buoys?${name}=limit`), undefined, name)
  assert.equal(ignored('/buoys?token=secret&api_key=a&units=0&fields=id&page=1'), 'token')
  for (const { path: of, parameters } of OPERATIONS) {
    if (of.includes('{')) continue
    const query = Object.keys(parameters).map((name) => `${name}=1`)
    assert.equal(ignored(`${of}?${query.join('&')}`), undefined, of)
  }
})

test('A parameter that says nothing without another one is named where that one is missing.', () => {
  for (const path of ['/buoys/1/readings', '/readings']) {
    assert.equal(ignored(`${path}?aggregation=max`), 'aggregation')
    assert.equal(ignored(`${path}?aggregation=max&bucket=`), 'aggregation', 'an empty value is absent')
    assert.equal(ignored(`${path}?aggregation=max&bucket=1d`), undefined)
  }
  assert.equal(ignored('/buoys/1/readings/series?metric=period&aggregation=max'), undefined)
  assert.equal(ignored('/buoys?radius=5'), 'radius')
  assert.equal(ignored('/buoys?radius=5&near=1,2'), undefined)
})

test('Names of similar services are named.', () => {
  const query = 'past_days=1&forecast_days=2&hourly=wave_height&daily=wave_height_max&current=wave_height'
  assert.equal(ignored(`/forecast?buoy=1&${query}`), 'past_days, forecast_days, hourly, daily, current')
})

test('However many there are, the header stays short.', () => {
  const names = OPERATIONS.flatMap(({ parameters }) => Object.keys(parameters)).map((name) => `${name}=1`)
  const header = ignored(`/countries?${names.join('&')}`)!
  assert.ok(header.length < 500)
  assert.equal(header.split(', ').length, 16)
})

test('304, HEAD, errors and other formats have it, and pages may read it.', () => {
  const { etag } = get('/countries').headers
  const cases = [
    get('/countries?limit=1', { 'if-none-match': etag }),
    get('/countries?limit=1', {}, 'HEAD'),
    get('/buoys?limit=1&page=0'),
    get('/buoys?limit=1', { authorization: '' }),
    get('/buoys/nothing-like-it?limit=1'),
    get('/buoys?limit=1&format=csv'),
    get('/buoys?limit=1&snapshot=0'),
  ]
  assert.deepEqual(fieldOf(cases, 'status'), [304, 200, 400, 401, 404, 200, 400])
  for (const { headers } of cases) {
    assert.equal(headers['x-ignored-parameters'], 'limit')
  }
  assert.match(get('/countries').headers['access-control-expose-headers'], /\bX-Ignored-Parameters\b/)
})

test('units=imperial is told that values are metric, and what units=1 does.', () => {
  for (const [url, allowed] of [
    ['/buoys?units=1', /metric\. Allowed: 0; with format=csv also 1, /],
    ['/buoys?format=csv&units=imperial', /metric\. Allowed: 0; with format=csv also 1, /],
    ['/files?units=imperial', /metric\. Allowed: 0"/],
  ] as const) {
    const { status, text } = get(url)
    assert.equal(status, 400)
    assert.match(text, allowed)
  }
})

test('The 404 of an unknown buoy names a near slug of ours, and never what was asked for.', () => {
  const [slug] = view.dataset.catalog.slugs
  const near = get(`/buoys/${slug.slice(0, -1)}/readings`).text
  assert.ok(near.includes(`"message":"Buoy not found. Did you mean ${slug}?"`), near)
  assert.ok(near.includes(`"details":{"did_you_mean":"${slug}"}`), near)
  // Three letters are enough, two are not.
  const shortest = slug.slice(0, 3)
  assert.match(get(`/buoys/${shortest}`).text, /"did_you_mean":/)
  assert.doesNotMatch(get(`/buoys/${shortest.slice(0, 2)}`).text, /did_you_mean/)
  for (const far of ['%3Cscript%3E', 'qqqqqqqqqq', 'x'.repeat(3000)]) {
    assert.match(get(`/buoys/${far}`).text, /"message":"Buoy not found"/, far)
  }
})

test('A 401 says how a key is sent where one came in another form, and never the key.', () => {
  const secret = 'gsw_not-a-key'
  const how = 'Send it in the header Authorization: Bearer KEY, or as the parameter api_key=KEY'
  const cases: [headers: AskedHeaders, query: string, message: string][] = [
    [{}, '', 'API key required'],
    [{ authorization: 'Bearer ' }, '', 'API key required'],
    [{ authorization: secret }, '', `API key required: Authorization came without Bearer. ${how}`],
    [{ authorization: `Token ${secret}` }, '', `API key required: Authorization came without Bearer. ${how}`],
    [{ 'x-api-key': secret }, '', `API key required: X-API-Key is not read. ${how}`],
    [{}, `?key=${secret}`, `API key required: it came as another parameter. ${how}`],
    [{}, `?apikey=${secret}`, `API key required: it came as another parameter. ${how}`],
    [{ authorization: `Bearer ${secret}` }, '', 'Invalid API key'],
  ]
  for (const [headers, query, message] of cases) {
    const { status, text } = path.get(`/v2/countries${query}`, headers)
    assert.deepEqual([status, (JSON.parse(text) as { message: string }).message], [401, message])
    assert.ok(!text.includes(secret))
  }
})

test('The 404 of an unknown path names the path of ours that was probably meant.', () => {
  const cases: [asked: string, meant: string | null][] = [
    ['/v2/bouys', '/v2/buoys'],
    ['/v2/Buoys/', '/v2/buoys'],
    ['/v2/buoys/', '/v2/buoys'],
    ['/buoys', '/v2/buoys'],
    ['/v1/buoys/nearest', '/v2/buoys/nearest'],
    ['/api/v2/readings', '/v2/readings'],
    ['/v2/buoy/7', '/v2/buoys/{buoy_id}'],
    ['/v2/buoys/7/reading', '/v2/buoys/{buoy_id}/readings'],
    ['/v2/tide', '/v2/tides'],
    ['/v2/wind', null],
    ['/wp-login.php', null],
    ['/v2/<script>', null],
    [`/v2/${'buoys'.repeat(100)}`, null],
  ]
  for (const [asked, meant] of cases) {
    const { status, text } = path.get(asked, KEYED)
    const { message } = JSON.parse(text) as { message: string }
    assert.equal(status, 404)
    assert.equal(message, meant === null ? 'No such path' : `No such path. Did you mean ${meant}?`, asked)
  }
})

test('A table that Accept alone has chosen is for its client; one that the address names is as public as JSON.', () => {
  const open = '/v2/buoys/search?query=al'
  const control = (url: string, headers: AskedHeaders = {}): string =>
    path.get(url, headers).headers['cache-control']
  assert.match(control(open), /^public/)
  assert.match(control(open, { accept: 'text/csv' }), /^private/)
  assert.match(control(open, { accept: 'text/html, application/json' }), /^public/)
  assert.match(control(`${open}&format=csv`, { accept: 'text/csv' }), /^public/)
  assert.match(control('/v2/buoys/search.csv?query=al'), /^public/)
  const { etag } = path.get(open, { accept: 'text/csv' }).headers
  const again = path.get(open, { accept: 'text/csv', 'if-none-match': etag })
  assert.deepEqual([again.status, again.headers['cache-control'].startsWith('private')], [304, true])
})
