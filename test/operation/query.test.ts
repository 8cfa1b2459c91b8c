/** Raw query text to typed values: kinds, repeats, empties, encodings, aliases and the canonical form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { ApiError } from '../../src/operation/errors.ts'
import {
  boolean,
  bbox,
  bounds,
  choice,
  date,
  integer,
  integerList,
  MAX_TEXT,
  number,
  point,
  text,
  timeOfDay,
  timestamp,
  WITHOUT_CONTROL_CHARACTERS,
  type Parameters,
  type QueryOf,
} from '../../src/operation/parameters.ts'
import { EtagHash, QueryReader, RawQuery } from '../../src/operation/query.ts'
import { ROUTED } from '../../src/routes.ts'
import { faultsOf, type WireSchema } from '../openapi/requests.ts'

const description = 'For tests.'

// Compiling a schema takes longer than all else here.
const readers = new WeakMap<Parameters, QueryReader<Parameters>>()

function readWith<const P extends Parameters>(parameters: P, query: string): QueryOf<P> {
  const reader = readers.get(parameters) ?? new QueryReader<Parameters>(parameters, 'bad_request')
  readers.set(parameters, reader)
  const read = reader.read(reader.textsOf(new RawQuery(query, reader.known)), new EtagHash(), 0)
  // Defaults are inherited.
  return Object.fromEntries(Object.keys(parameters).map((name) => [name, read[name]])) as QueryOf<P>
}

function valueOf(parameter: Parameters[string], encoded: string): unknown {
  return readWith({ p: parameter }, `p=${encoded}`).p
}

test('A refusal says what was probably meant: a point for a decimal comma, our name for a usual one.', () => {
  const [parameters] = ROUTED.flatMap(({ name, parameters: its }) => (name === 'nearestBuoys' ? [its] : []))
  const problemOf = (query: string): string => {
    const reader = new QueryReader<Parameters>(parameters, 'bad_request')
    const raw = new RawQuery(query, reader.known)
    try {
      reader.read(reader.textsOf(raw), new EtagHash(), 0, raw.names)
    } catch (error) {
      return (error as ApiError).message
    }
    return assert.fail(query)
  }
  assert.match(
    problemOf('lat=43,5&lng=-1'),
    /^Parameter lat is malformed: it has a decimal comma, .*\. Allowed: /,
  )
  assert.match(problemOf('lat=43&lng=-1&limit=2,5'), /^Parameter limit is malformed: it has a decimal comma/)
  assert.match(problemOf('lat=43,,5&lng=-1'), /^Parameter lat is malformed\. Allowed: /)
  const meant = /^Parameter lat is required \(is lat meant by latitude\?\)\. Allowed: /
  assert.match(problemOf('latitude=43&longitude=-1'), meant)
  assert.match(problemOf('lat=43&lon=-1'), /^Parameter lng is required \(is lng meant by lon\?\)\. Allowed/)
  assert.match(problemOf('lat=43&x=-1'), /^Parameter lng is required\. Allowed: /)
})

/** The message of the refusal. */
function refusal(parameters: Parameters, query: string): string {
  try {
    readWith(parameters, query)
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error))
    assert.equal(error.code, 'bad_request')
    const { message, details } = error
    assert.ok(message.includes('Allowed: '), message)
    assert.ok(message.includes(String(details?.parameter)), message)
    return message
  }
  assert.fail(`${query} was not refused`)
}

test('Each kind of parameter refuses all that its description suggests as a fault, and says what is allowed.', () => {
  const kinds: [parameter: Parameters[string], allowed: RegExp, more?: string[]][] = [
    [integer({ description, minimum: -5, maximum: 50 }), /an integer from -5 to 50$/],
    [integer({ description }), /an integer$/, ['9'.repeat(400)]],
    [number({ description, minimum: -90, maximum: 90 }), /from -90 to 90$/, ['90.0000001']],
    [boolean({ description, default: true }), /true/],
    [text({ description, minLength: 2, trim: true }), /100/],
    [text({ description, pattern: '^[A-Z]{2}$', allowed: 'two capitals' }), /two capitals$/, ['F', 'FR\n']],
    [
      choice({ description, values: ['asc', 'desc'], default: 'desc' }),
      /one of asc, desc$/,
      ['asc ', '__proto__'],
    ],
    [timestamp({ description }), /2/],
    [date({ description }), /YYYY-MM-DD/],
    [timeOfDay({ description, required: true }), /HH:MM/],
    [point({ description }), /lat/],
    [bounds({ description }), /north/],
    [bbox({ description }), /west/],
    [integerList({ description, required: true }), /commas/],
  ]
  for (const [parameter, allowed, more = []] of kinds) {
    const described = { name: 'p', required: false, schema: parameter.wire as WireSchema }
    const wrong = more.map((value) => `p=${encodeURIComponent(value)}`)
    for (const query of [...faultsOf(described).map((fault) => fault.query), ...wrong])
      assert.match(refusal({ p: parameter }, query), allowed, query)
  }
})

// What the oracle's requests do not say.
test('Numbers may have zeros in front, texts are trimmed and counted by code points, and boxes may be off the globe.', () => {
  const ids = integerList({ description, required: true })
  const far = { north: 120, south: -120, east: 900, west: -900 }
  for (const [parameter, encoded, value] of [
    [integer({ description, minimum: -5 }), '-0', 0],
    [number({ description }), '007.50', 7.5],
    [text({ description, minLength: 2, trim: true }), encodeURIComponent('  Île d’Yeu '), 'Île d’Yeu'],
    [text({ description }), encodeURIComponent('🌊'.repeat(MAX_TEXT)), '🌊'.repeat(MAX_TEXT)],
    [text({ description }), '+a+', ' a '],
    [timeOfDay({ description }), '09%3A30', 34_200],
    [bounds({ description }), encodeURIComponent(JSON.stringify({ ...far, zoom: 3 })), far],
    [bbox({ description }), '-900%2C-120%2C900%2C120', far],
    [ids, '9007199254740991', [Number.MAX_SAFE_INTEGER]],
    [ids, '3&p=&p[]=1,2&p%5B%5D=', [3, 1, 2]],
  ] as [Parameters[string], string, unknown][])
    assert.deepEqual(valueOf(parameter, encoded), value, encoded)
  assert.match(refusal({ ids }, 'ids=&ids[]='), /ids is required/)
  assert.match(refusal({ ids }, 'ids[0]=1'), /ids is required/)
})

const several = {
  page: integer({ description, minimum: 1, default: 1, aliases: ['p'] }),
  query: text({ description, required: true, trim: true }),
  active_only: boolean({ description, default: true }),
  bounds: bounds({ description }),
}

test('Empty values and unknown names count as absent, wherever they stand.', () => {
  const expected = { page: 2, query: 'a b', active_only: true }
  const queries = [
    'page=2&query=a+b',
    'query=a%20b&page=2',
    '&&page=2&&query=a%20b&',
    'page=&page=2&query=a+b&page=',
    'page=2&query=a+b&active_only=&bounds',
    'page=2&query=a+b&unknown=%ff&__proto__=1&constructor=2&page[]=3&Page=4',
    'p=2&query=a+b',
    '%70age=2&%71uery=a+b',
    'page=2&query=a+b&=5&=',
  ]
  for (const query of queries) {
    const given = Object.entries(readWith(several, query)).filter(([, value]) => value !== undefined)
    assert.deepEqual(Object.fromEntries(given), expected, query)
  }
})

test('A parameter given twice is malformed, also under two of its names or with one value.', () => {
  for (const query of [
    'query=a&page=1&page=2',
    'query=a&page=1&page=1',
    'query=a&page=1&p=1',
    'query=a&p=1&p=2',
  ]) {
    assert.match(refusal(several, query), /Parameter page is given more than once/)
  }
})

test('Broken percent-encoding is refused, never guessed.', () => {
  for (const broken of ['%', '%4', '%zz', '%ff', '%c3%28', '%ed%a0%80', 'a%']) {
    assert.match(refusal(several, `query=${broken}`), /Parameter query is not percent-encoded UTF-8/)
  }
  assert.equal(readWith(several, 'query=100%25').query, '100%')
  assert.equal(readWith(several, 'query=a%2Bb').query, 'a+b')
  assert.equal(readWith(several, 'query=a%26b%3Dc').query, 'a&b=c')
  assert.equal(readWith(several, 'query=a=b=c').query, 'a=b=c')
})

test('Any text that is encoded comes back as it was, and any query at all is read or refused.', () => {
  const reader = new QueryReader({ q: text({ description }) }, 'validation_failed')
  const plain = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .filter((given) => !/\p{Cc}/u.test(given))
  fc.assert(
    fc.property(plain, (given) => {
      if (Array.from(given).length > MAX_TEXT) return
      for (const encoded of [`q=${encodeURIComponent(given)}`, String(new URLSearchParams({ q: given }))]) {
        const raw = new RawQuery(encoded, reader.known)
        assert.equal(reader.read(reader.textsOf(raw), new EtagHash(), 0).q, given)
        assert.equal(raw.get('q'), given)
      }
    }),
  )
  const all = new QueryReader(
    { ...several, near: point({ description }), ids: integerList({ description, required: true }) },
    'validation_failed',
  )
  const pieces = fc.constantFrom(...'page p query ids ids[] near bounds = & % 1 , - . + {} é'.split(' '))
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 25 }), (parts) => {
      try {
        all.read(all.textsOf(new RawQuery(parts.join(''), all.known)), new EtagHash(), 0)
      } catch (error) {
        assert.ok(error instanceof ApiError && error.code === 'validation_failed', String(error))
      }
    }),
    { numRuns: 2000 },
  )
})

test('A raw parameter is its decoded value, nothing when absent, and null when it cannot be decoded.', () => {
  const get = (query: string): string | null => new RawQuery(query).get('api_key')
  assert.deepEqual(
    [
      ...'|api_key|api_key=|a=1&api_key=gs_%41|api_key=x&api_key=|api_key=x&api_key=x'.split('|'),
      ...'api_key=%|b=%&api_key=x'.split('|'),
    ].map(get),
    ['', '', '', 'gs_A', 'x', null, null, 'x'],
  )
})

test('Two queries have one canonical form exactly when they ask for the same.', () => {
  const parameters = {
    near: point({ description }),
    radius: integer({ description, default: 100 }),
    source: text({ description }),
    since: timestamp({ description }),
    active_only: boolean({ description, default: true }),
    ids: integerList({ description, required: true }),
  }
  const reader = new QueryReader(parameters, 'bad_request')
  const small = fc.record(
    {
      near: fc.constantFrom('1,2', '1.0,2', '2,1'),
      radius: fc.constantFrom('100', '0100', '7'),
      source: fc.constantFrom('a', 'b', 'a"', '"\\u0001', 'true', '1', 'null'),
      since: fc.constantFrom(
        '2026-03-27',
        '2026-03-27T00:00:00Z',
        '2026-03-27T01:00:00%2B01:00',
        '2026-03-28',
      ),
      active_only: fc.constantFrom('true', '1', 'false'),
      ids: fc.constantFrom('1', '1,2', '2,1', '12'),
    },
    { requiredKeys: ['ids'] },
  )
  const digest = new EtagHash()
  fc.assert(
    fc.property(small, small, fc.infiniteStream(fc.boolean()), (one, other, dice) => {
      const read = (values: {
        [name: string]: string | undefined
      }): { query: QueryOf<typeof parameters>; canonical: string; digest: string } => {
        const names = Object.entries(values).map(([name, value]) => `${name}=${value ?? ''}`)
        if (dice.next().value) names.reverse()
        const query = reader.read(
          reader.textsOf(new RawQuery(names.join('&'), reader.known)),
          digest.begin(),
          0,
        )
        return { query, canonical: reader.canonical(query), digest: `${digest.high} ${digest.low}` }
      }
      const [first, second] = [read(one), read(other)]
      const [a, b] = [first.query, second.query]
      const same = Object.keys(parameters).every((name) => {
        const key = name as keyof typeof parameters
        return (
          JSON.stringify([a[key]]) === JSON.stringify([b[key]]) &&
          (a[key] === undefined) === (b[key] === undefined)
        )
      })
      assert.equal(first.canonical === second.canonical, same)
      assert.equal(first.canonical, read(one).canonical)
      assert.equal(first.digest === second.digest, same, 'the digests')
    }),
    { numRuns: 1000 },
  )
})

test('Reading a query of the longest URL with thousands of parameters stays cheap.', () => {
  const reader = new QueryReader(several, 'bad_request')
  for (const pair of ['a&', 'a=1&', '&', '=&', 'p=&']) {
    const start = process.cpuUsage()
    for (let i = 0; i < 20; i++) {
      const raw = new RawQuery(pair.repeat(16_000 / pair.length), reader.known)
      assert.throws(() => reader.read(reader.textsOf(raw), new EtagHash(), 0), /query is required/)
    }
    const { user } = process.cpuUsage(start)
    // Some 2 ms each where it was measured; seconds if it grew with the square.
    assert.ok(user / 20 < 100_000, `${user / 20} µs of CPU time each`)
  }
})

test('The texts that the pattern of a parameter describes are those that the reader takes.', () => {
  const patterned = ROUTED.flatMap((operation) => Object.entries<Parameters[string]>(operation.parameters))
    .map(([name, parameter]) => ({ name, parameter, wire: parameter.wire as { pattern?: string } }))
    .filter(({ wire: { pattern } }) => pattern !== undefined && pattern !== WITHOUT_CONTROL_CHARACTERS)
    // What it needs beside others its handler sees to.
    .filter(({ name }) => name !== 'include')
  const names = new Set(patterned.map(({ name }) => name))
  for (const name of ['near', 'country', 'time', 'since']) assert.ok(names.has(name), name)
  const ajv = new Ajv2020()
  const piece = fc.constantFrom(' ', ...'0 00 1 18 9 90 180 - . , : wind FR a'.split(' '))
  for (const { name, parameter, wire } of patterned) {
    const isDescribed = ajv.compile(wire)
    const described = fc.stringMatching(new RegExp(wire.pattern!))
    const changed = fc
      .tuple(described, piece, fc.nat(30), fc.boolean())
      .map(([good, more, at, cuts]) => good.slice(0, at) + more + good.slice(cuts ? at + 1 : at))
    const loose = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''))
    const given = fc.oneof(described, changed, loose).filter((value) => value !== '')
    fc.assert(
      fc.property(given, (value) => {
        let isTaken = true
        try {
          valueOf(parameter, encodeURIComponent(value))
        } catch (error) {
          assert.ok(error instanceof ApiError)
          isTaken = false
        }
        assert.equal(isTaken, isDescribed(value), `${name}=${value}`)
      }),
      { numRuns: 300 },
    )
  }
})

test('A query may ask for another form by the names of forms alone, encoded or not.', () => {
  const mayShape = (query: string): boolean => new RawQuery(query).mayShape
  for (const name of ['format', 'fields', 'layout', 'units', 'include']) {
    assert.ok(mayShape(`page=2&${name}=1`), name)
    assert.ok(mayShape(`%${name.charCodeAt(0).toString(16)}${name.slice(1)}=1`), `${name}, encoded`)
  }
  const others = ROUTED.flatMap(({ parameters }) => Object.keys(parameters))
  for (const name of new Set(others)) {
    if (name !== 'include') assert.ok(!mayShape(`${name}=1`), name)
  }
})
