/** The checks of queries that the build makes, against what ajv makes of the same schemas at run time. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkOf } from '../../src/operation/query-check.ts'
import { schemaOf } from '../../src/operation/query.ts'
import { ROUTED } from '../../src/routes.ts'

const DIST = new URL('../../dist/', import.meta.url)
const built = (await import(
  new URL('operation/query-check.js', DIST).href
)) as typeof import('../../src/operation/query-check.ts')

interface Schema {
  properties: Record<string, object>
  required: string[]
}

/** All that a schema names as a limit, one beside it, and values of other types. */
function valuesFor(schema: object): unknown[] {
  const limits: unknown[] = []
  JSON.stringify(schema, (_key, value: unknown) => {
    if (typeof value === 'number') limits.push(value - 1, value, value + 1, value + 0.5)
    if (typeof value === 'number' && value >= 0 && value <= 200) {
      for (const length of [value, value + 1]) {
        limits.push(
          '🌊'.repeat(Math.max(0, length)),
          Array.from({ length: Math.max(0, length) }, () => 1),
        )
      }
    }
    if (typeof value === 'string') limits.push(value)
    return value
  })
  const others = [undefined, null, true, '', 'GB', 'a'.repeat(24), [], [1, 'a'], {}, { lat: 91, lng: 0 }]
  return [...limits, ...others, Number.NaN, Infinity, -0]
}

/** Values of the parameters that have to be given, which are right. */
function rightValues(schema: Schema): Record<string, unknown> {
  const { properties, required } = schema
  const rightOf = (name: string): unknown => {
    const check = checkOf({ ...schema, properties: { [name]: properties[name] }, required: [name] })
    return valuesFor(properties[name]).find((value) => check({ [name]: value }))
  }
  return Object.fromEntries(required.map((name) => [name, rightOf(name)]))
}

test('The checks that the build makes say the same of all values as those that ajv makes at run time.', () => {
  const seen = { right: 0, wrong: 0 }
  for (const { name, parameters } of ROUTED) {
    const schema = schemaOf(parameters) as Schema
    const [expected, actual] = [checkOf(schema), built.checkOf(schema)]
    const compare = (values: Record<string, unknown>): void => {
      const isRight = expected(values)
      seen[isRight ? 'right' : 'wrong']++
      assert.equal(actual(values), isRight, name)
      assert.deepEqual(actual.errors, expected.errors, name)
    }
    const right = rightValues(schema)
    compare(right)
    const candidates = Object.entries(schema.properties).map(([key, of]) => [key, valuesFor(of)] as const)
    for (const [key, values] of candidates) {
      for (const value of values) compare({ ...right, [key]: value })
    }
    const drawn = candidates.map(([key, values]) => [key, fc.constantFrom(...values)] as const)
    fc.assert(fc.property(fc.record(Object.fromEntries(drawn), { requiredKeys: [] }), compare))
  }
  assert.ok(seen.right > 300 && seen.wrong > 300, JSON.stringify(seen))
})

test('A schema that the build has made no check for is refused where its reader is made.', () => {
  assert.throws(() => built.checkOf({ type: 'object', properties: {}, required: ['a'] }), /no check/)
})

test('A worker loads nothing of ajv but the helpers of finished checks.', () => {
  const worker = new URL('server/worker.js', DIST)
  const imported = [...readFileSync(worker, 'utf8').matchAll(/ from '(\.[^']+)'/g)].map(
    ([, file]) => new URL(file, worker).href,
  )
  assert.ok(imported.length > 20)
  const script = `${imported.map((href) => `import '${href}'\n`).join('')}
    import module from 'node:module'
    console.log(JSON.stringify(Object.keys(module._cache)))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  const ofAjv = (JSON.parse(stdout) as string[]).filter((file) => file.includes('/ajv/'))
  assert.ok(ofAjv.length > 0)
  for (const file of ofAjv) assert.match(file, /\/ajv\/dist\/runtime\//)
})
