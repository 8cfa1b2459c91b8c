/**
 * What is committed and made from the program (examples, `clients/openapi.json`, the TypeScript client) is
 * what the program makes now, and no change of the description breaks its users. `npm run openapi` renews the
 * files; it refuses to where the change is a breaking one, unless GROUNDSWELL_RENEW is `breaking`.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openApiDocument, type ExampleAnswers } from '../../src/openapi/document.ts'
import { EXAMPLE_ANSWERS } from '../../src/openapi/examples.ts'
import {
  EXAMPLES_AS_OF,
  OPERATION_TEXTS,
  REFUSED,
  refusalKey,
  type Refused,
} from '../../src/openapi/operations.ts'
import { OPERATIONS } from '../../src/routes.ts'
import { Client, runCliWell, startLive, temporaryFolder, type Live } from '../live.ts'
import { typeScriptClient } from './typescript_client.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const EXAMPLES = join(ROOT, 'src/openapi/examples.ts')
const DOCUMENT = join(ROOT, 'clients/openapi.json')
const CLIENT = join(ROOT, 'clients/typescript/groundswell.ts')
const HOW_TO_RENEW = 'if that is meant, run `npm run openapi` and commit what it changes'

/** `breaking` renews even what breaks users. */
const RENEW = process.env['GROUNDSWELL_RENEW'] ?? ''

/** The answers that the examples are or, while they are renewed, will be. */
let examples: ExampleAnswers = EXAMPLE_ANSWERS

const documentText = (): string =>
  `${JSON.stringify(openApiDocument(OPERATIONS, '/v2', examples), null, 2)}\n`

test('The examples are what the server answers to their requests.', { timeout: 600_000 }, async (t) => {
  const answers = await ask(t)
  if (RENEW !== '') {
    examples = answers
    writeFileSync(
      EXAMPLES,
      '/** Answers of the demo snapshot, by request. Made by `npm run openapi`; a test checks that the server still answers so. */\n' +
        `export const EXAMPLE_ANSWERS: { readonly [request: string]: unknown } = ${JSON.stringify(answers)}\n`,
    )
    run('oxfmt', [EXAMPLES])
  }
  assert.deepEqual(Object.keys(examples).toSorted(), Object.keys(answers).toSorted(), HOW_TO_RENEW)
  for (const [request, answer] of Object.entries(answers)) {
    assert.deepEqual(examples[request], answer, `${request}: ${HOW_TO_RENEW}`)
  }
})

test('The description is valid by the rules of a linter, without warnings.', (t) => {
  const { status, output } = run('redocly', ['lint', '--format=stylish', written(t, documentText())], 'ask')
  assert.equal(status, 0, output)
  assert.doesNotMatch(output, /You have \d+ warning/, output)
})

test('The committed description is that of the program, and no change of it breaks a client.', (t) => {
  const now = documentText()
  if (existsSync(DOCUMENT) && readFileSync(DOCUMENT, 'utf8') !== now) {
    const { status, output } = run('redocly', ['diff', DOCUMENT, written(t, now)], 'ask')
    if (RENEW !== 'breaking') {
      assert.equal(
        status,
        0,
        `the change of the description breaks clients; GROUNDSWELL_RENEW=breaking takes it\n${output}`,
      )
    }
    assert.ok(RENEW !== '', `the description has changed; ${HOW_TO_RENEW}\n${output}`)
  }
  if (RENEW !== '') writeFileSync(DOCUMENT, now)
  assert.ok(existsSync(DOCUMENT), `there is no ${DOCUMENT}; ${HOW_TO_RENEW}`)
})

interface Editable {
  paths: { [path: string]: { get: { parameters: { name: string; schema: { maximum: number } }[] } } }
  components: {
    schemas: { [name: string]: { required: string[]; properties: { [field: string]: { type: unknown } } } }
  }
}

const limitOfSearch = ({ paths }: Editable): { maximum: number } =>
  paths['/buoys/search'].get.parameters.find(({ name }) => name === 'limit')!.schema

const CHANGES: { what: string; breaks: boolean; change: (document: Editable) => void }[] = [
  { what: 'an operation is gone', breaks: true, change: ({ paths }) => delete paths['/countries'] },
  { what: 'a maximum is lower', breaks: true, change: (document) => (limitOfSearch(document).maximum = 20) },
  {
    what: 'a field may be null',
    breaks: true,
    change: ({ components }) => (components.schemas.Buoy.properties.slug.type = ['string', 'null']),
  },
  {
    what: 'a maximum is higher',
    breaks: false,
    change: (document) => (limitOfSearch(document).maximum = 200),
  },
  {
    what: 'there is one more field',
    breaks: false,
    change: ({ components: { schemas } }) => {
      schemas.Buoy.properties.depth = { type: 'number' }
      schemas.Buoy.required.push('depth')
    },
  },
]

for (const { what, breaks, change } of CHANGES) {
  test(`That ${what} counts as a change that ${breaks ? 'breaks' : 'does not break'} a client.`, (t) => {
    const document = JSON.parse(documentText()) as Editable
    change(document)
    const files = [written(t, documentText()), written(t, JSON.stringify(document))]
    const { status, output } = run('redocly', ['diff', ...files], 'ask')
    assert.equal(status, breaks ? 1 : 0, output)
  })
}

test('The TypeScript client is that of the description.', () => {
  const client = typeScriptClient(JSON.parse(documentText()))
  if (RENEW !== '') writeFileSync(CLIENT, client)
  assert.ok(existsSync(CLIENT), `there is no ${CLIENT}; ${HOW_TO_RENEW}`)
  assert.ok(
    readFileSync(CLIENT, 'utf8') === client,
    `the client is not that of the description; ${HOW_TO_RENEW}`,
  )
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
    for (const [key, part] of Object.entries(schema)) look(part, `${path}.${key}`)
  }
  look(components.schemas, 'schemas')
})

/** A file of its own for a linter to read. */
function written(t: TestContext, text: string): string {
  const file = join(temporaryFolder(t), 'openapi.json')
  writeFileSync(file, text)
  return file
}

/** Runs a tool of the project. @throws AssertionError when it fails, unless its status is asked for */
function run(
  tool: string,
  args: string[],
  failure: 'throw' | 'ask' = 'throw',
): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/.bin', tool), ...args],
    {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: 600_000,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  )
  const output = `${stdout}\n${stderr}${error === undefined ? '' : String(error)}`
  if (failure === 'throw') assert.equal(status, 0, output)
  return { status, output }
}

/** A UUID that the documentation's errors show. */
const REQUEST_ID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
/** Seconds to the end of the hour that the documentation's 429 shows. */
const WAIT = 1800

async function ask(t: TestContext): Promise<ExampleAnswers> {
  const live = await startLive(t, { sourceArgs: ['--source', 'demo', '--as-of', EXAMPLES_AS_OF] })
  const clients = {
    good: new Client(live),
    none: new Client(live, null),
    wrong: new Client(live, 'wrong'),
    'used-up': new Client(live, await usedUpKey(live)),
  }
  t.after(() => Object.values(clients).forEach((client) => client.close()))
  const answers: { [request: string]: unknown } = {}
  const answerOf = async (request: string, status: number, key: keyof typeof clients): Promise<unknown> => {
    const path = request.replaceAll(/[{}":]/g, encodeURIComponent)
    const reply = await clients[key].get(path, { headers: { 'x-request-id': REQUEST_ID } })
    assert.equal(reply.status, status, `${request}: ${reply.text.slice(0, 300)}`)
    return atFixedTime(JSON.parse(reply.text))
  }
  for (const request of Object.values(OPERATION_TEXTS).flatMap((texts) => Object.values(texts.examples))) {
    answers[request] = await answerOf(request, 200, 'good')
  }
  for (const refused of REFUSED) {
    answers[refusalKey(refused)] = await answerOf(refused.request, refused.status, keyOf(refused))
  }
  return answers
}

const keyOf = ({ key }: Refused): 'good' | 'none' | 'wrong' | 'used-up' => key ?? 'good'

/** Times of the clock become those of the examples; everything else stays as it was answered. */
function atFixedTime(body: unknown): unknown {
  const answer = body as { [key: string]: unknown; meta?: { [key: string]: unknown } }
  if (answer.meta !== undefined) answer.meta.timestamp = EXAMPLES_AS_OF
  if (answer.timestamp !== undefined) answer.timestamp = EXAMPLES_AS_OF
  if (answer.retry_after !== undefined) {
    answer.retry_after = WAIT
    answer.reset_at = new Date(Date.parse(EXAMPLES_AS_OF) + WAIT * 1000).toISOString().replace('.000Z', 'Z')
  }
  return answer
}

/** A key of one call an hour that is spent. */
async function usedUpKey(live: Live): Promise<string> {
  const issue = ['keys', 'issue', '--keys', live.keysFile, '--owner', 'spent', '--quota', '1', '--json']
  const { key } = JSON.parse(await runCliWell(issue)) as { key: string }
  const client = new Client(live, key)
  // The server learns of a key within a second.
  for (let tries = 0; tries < 100; tries++) {
    if ((await client.get('/countries')).status === 429) break
    await setTimeout(100)
  }
  client.close()
  return key
}
