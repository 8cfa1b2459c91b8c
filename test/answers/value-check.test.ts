/** Checks of typed values by their schemas, with a compiler of JSON schemas as the oracle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { Parameters } from '../../src/answers/parameters.ts'
import { checkOf } from '../../src/answers/value-check.ts'
import { ROUTED } from '../../src/routes.ts'

const ajv = new Ajv2020({ strict: true, strictTypes: false })

const small = fc.integer({ min: -4, max: 4 })
const length = fc.nat({ max: 4 })
const optional = { requiredKeys: ['type'] as ['type'] }
const numeric = fc.record(
  { type: fc.constantFrom('integer', 'number'), minimum: small, maximum: small },
  optional,
)
const words = fc.uniqueArray(fc.constantFrom('', 'a', 'ab', 'é', '🌊', '🌊🌊'), { minLength: 1 })
const textual = fc.record(
  {
    type: fc.constant('string'),
    minLength: length,
    maxLength: length,
    pattern: fc.constantFrom('^[a-z]*$', '^.$', '🌊{2}'),
    enum: words,
  },
  optional,
)
const plain = fc.oneof(numeric, textual, fc.constant({ type: 'boolean' }))
const list = fc
  .record({ type: fc.constant('array'), maxItems: length, items: plain }, { requiredKeys: ['type', 'items'] })
  .map((schema): object => schema)
const object = fc.record(
  { type: fc.constant('object'), properties: fc.dictionary(fc.constantFrom('lat', 'lng'), plain) },
  optional,
)
const schemas = fc.oneof(plain, list, object)

const scalars = fc.oneof(
  small,
  fc.constantFrom(0.5, -0, Infinity, -Infinity, NaN, 2 ** 53, 1e300, true, false, null),
  fc.string({ unit: fc.constantFrom('a', 'b', 'Z', 'é', '🌊'), maxLength: 6 }),
)
const values = fc.oneof(
  scalars,
  fc.array(scalars, { maxLength: 5 }),
  fc.dictionary(fc.constantFrom('lat', 'lng', 'other'), fc.oneof(scalars, fc.constant(undefined))),
)

test('A value is refused exactly where a compiled schema refuses it.', () => {
  fc.assert(
    fc.property(schemas, fc.array(values, { minLength: 20, maxLength: 20 }), (schema, given) => {
      const [check, compiled] = [checkOf(schema), ajv.compile(schema)]
      for (const value of given) assert.equal(check(value), compiled(value), JSON.stringify(value))
    }),
    { numRuns: 400 },
  )
})

const DECLARED = ROUTED.flatMap((operation) => Object.entries<Parameters[string]>(operation.parameters))

test('The schemas of all parameters are checked as they are declared, at their ends too.', () => {
  assert.ok(DECLARED.length > 50)
  for (const [name, { schema }] of DECLARED) {
    const [check, compiled]: [(value: unknown) => boolean, ValidateFunction] = [
      checkOf(schema),
      ajv.compile(schema),
    ]
    const {
      minimum = 0,
      maximum = 0,
      enum: allowed = [],
    } = schema as {
      minimum?: number
      maximum?: number
      enum?: string[]
    }
    const ends = [minimum, maximum].flatMap((end) => [end - 1, end - 0.5, end, end + 0.5, end + 1])
    const texts = ['', 'a', 'ab', 'FR', 'fr', '🌊'.repeat(100), '🌊'.repeat(101), 'a'.repeat(101), ...allowed]
    const points = [{ lat: 90, lng: 180 }, { lat: 90.1, lng: 0 }, { lat: 0, lng: -180.1 }, {}]
    for (const value of [...ends, ...texts, ...points, ends, texts, [], true, null, Infinity, NaN]) {
      assert.equal(check(value), compiled(value), `${name}: ${JSON.stringify(value)}`)
    }
  }
})

test('What a parameter is where it is not given is within its limits: it is not checked again.', () => {
  for (const [name, { schema, default: fallback }] of DECLARED) {
    if (fallback !== undefined) assert.ok(checkOf(schema)(fallback), name)
  }
})

test('A keyword that is not checked is refused when the server starts.', () => {
  for (const schema of [
    { type: 'integer', multipleOf: 5 },
    { type: 'number', minLength: 1 },
    { type: 'object', required: ['lat'] },
    { type: ['integer', 'null'] },
    { minimum: 1 },
    { type: 'null' },
    { type: 'array' },
  ]) {
    assert.throws(() => checkOf(schema), TypeError, JSON.stringify(schema))
  }
})
