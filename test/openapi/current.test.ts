/**
 * The committed examples and `clients/openapi.json` are those that the program makes now, and a change that
 * breaks users is recognized.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { exampleAnswers, type Get } from '../../tools/openapi/examples.ts'
import { DESCRIPTION_FILE, descriptionText } from '../../tools/openapi/made.ts'
import { compareDescriptions, lintDescription } from '../../tools/openapi/redocly.ts'
import { openApiDocument } from '../../src/openapi/document.ts'
import { EXAMPLE_ANSWERS, OPERATION_TEXTS } from '../../src/openapi/operation-texts.ts'
import { OPERATIONS, ROUTED } from '../../src/routes.ts'
import { examplesSnapshots } from '../built_once.ts'
import { Client, startLive, type Live } from '../live.ts'
import { conformanceAt } from './conformance.ts'

const HOW_TO_RENEW = 'if that is meant, run `npm run openapi` and commit what it changes'

test('The examples are what the server answers to their requests.', async (t) => {
  const live = await startLive(t, { snapshots: await examplesSnapshots() })
  const answers = await exampleAnswers(live, getChecked(live))
  const requests = Object.keys(EXAMPLE_ANSWERS).toSorted()
  assert.deepEqual(requests, Object.keys(answers).toSorted(), HOW_TO_RENEW)
  for (const [request, answer] of Object.entries(answers)) {
    assert.deepEqual(EXAMPLE_ANSWERS[request], answer, `${request}: ${HOW_TO_RENEW}`)
  }
})

/** Asks with clients that check each answer against the description. */
function getChecked(live: Live): Get {
  const clients = new Map<string | null, Client>()
  return (path, key, headers) => {
    const client = clients.get(key) ?? new Client(live, key)
    clients.set(key, client)
    return client.get(path, { headers })
  }
}

test('Lists of some members, and lists by columns, have a schema of their own.', async (t) => {
  const client = new Client(await startLive(t, { snapshots: await examplesSnapshots() }))
  const lists = ROUTED.filter(({ tables }) => tables?.isList === true)
  assert.ok(lists.length > 8)
  for (const { name } of lists) {
    const [request] = Object.values(OPERATION_TEXTS[name].examples)
    const mark = request.includes('?') ? '&' : '?'
    // The client holds them against the description.
    const byColumns = await client.get(`${request}${mark}layout=columns`)
    const { data } = JSON.parse(byColumns.text) as { data: { [member: string]: object } }
    const columns = Object.values(data).find((each) => Object.values(each).some(Array.isArray))!
    const some = await client.get(`${request}${mark}fields=${Object.keys(columns)[0]}`)
    for (const shaped of [byColumns, some]) {
      assert.equal(shaped.status, 200)
      assert.throws(() => conformanceAt('/v2').check('GET', `/v2${request}`, shaped), /off its schema/)
    }
  }
})

test('The description is valid by the rules of a linter, without warnings.', () => {
  const { isFine, output } = lintDescription(descriptionText())
  assert.ok(isFine, output)
})

test('The committed description is that of the program.', () => {
  const isCurrent = readFileSync(DESCRIPTION_FILE, 'utf8') === descriptionText()
  assert.ok(isCurrent, `the description has changed; ${HOW_TO_RENEW}`)
})

// Which changes break, the linter knows.
test('A lower maximum counts as a change that breaks a client, and a higher one does not.', () => {
  for (const [maximum, isFine] of [
    [20, false],
    [200, true],
  ] as const) {
    const document = JSON.parse(descriptionText()) as ReturnType<typeof openApiDocument>
    const { parameters } = document.paths['/buoys/search'].get
    Object.assign(parameters.find(({ name }) => name === 'limit')!['schema'] as object, { maximum })
    const found = compareDescriptions(descriptionText(), JSON.stringify(document))
    assert.equal(found.isFine, isFine, found.output)
  }
})

test('Every content of every answer has an example that says how it was asked for.', () => {
  const { paths, components } = openApiDocument(ROUTED, '/v2')
  type Contents = { [type: string]: { example?: unknown; examples?: { [word: string]: { value: unknown } } } }
  const answers = [
    ...Object.values(paths).map(({ get }) => get.responses['200']),
    ...Object.values(components.responses),
  ]
  for (const { content = {}, description } of answers) {
    for (const [type, { example, examples }] of Object.entries(content as Contents)) {
      const values = [example, ...Object.values(examples ?? {}).map(({ value }) => value)]
      const isShown = values.some((value) => value !== undefined && value !== '')
      assert.ok(isShown, `${type} of ${String(description)}`)
    }
  }
})

test('Every field of an answer has a description, and every measurement a unit.', () => {
  const { components } = openApiDocument(OPERATIONS, '/v2')
  const measurement =
    /height|period|temperature|speed|direction_degrees|^direction$|^(lat|lng|south|north|west|east)$|_km$|_minutes$|^seconds_|energy|tide_level/
  const look = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { properties = {} } = schema as { properties?: { [name: string]: { [key: string]: unknown } } }
    for (const [name, field] of Object.entries(properties)) {
      const isDescribed = typeof field.description === 'string' || typeof field.$ref === 'string'
      assert.ok(isDescribed, `${path}.${name} has no description`)
      const isNumber = [field.type].flat().some((each) => each === 'number' || each === 'integer')
      const hasUnit = typeof field['x-unit'] === 'string'
      assert.ok(!isNumber || !measurement.test(name) || hasUnit, `${path}.${name} has no unit`)
    }
    // A member may itself be called `properties`, as in GeoJSON.
    for (const field of Object.values(properties)) look(field, `${path}.properties`)
    for (const [key, part] of Object.entries(schema)) {
      if (key !== 'properties') look(part, `${path}.${key}`)
    }
  }
  look(components.schemas, 'schemas')
})

/** Walks over all schemas of a document; `at` is the path of a part. */
function eachSchema(
  part: unknown,
  visit: (schema: { [keyword: string]: unknown }, at: string) => void,
): void {
  const walk = (each: unknown, at: string): void => {
    if (typeof each !== 'object' || each === null) return
    if (!Array.isArray(each)) visit(each as { [keyword: string]: unknown }, at)
    for (const [key, inner] of Object.entries(each)) {
      if (key !== 'example' && key !== 'examples') walk(inner, `${at}/${key}`)
    }
  }
  walk(part, '')
}

test('An integer that need not fit into 32 bits says so: generated clients would overflow.', () => {
  let wide = 0
  eachSchema(JSON.parse(descriptionText()), ({ type, maximum = Infinity, format }, at) => {
    if (![type].flat().includes('integer')) return
    if ((maximum as number) < 2 ** 31) return
    wide++
    assert.equal(format, 'int64', at)
  })
  assert.ok(wide > 50, String(wide))
})
