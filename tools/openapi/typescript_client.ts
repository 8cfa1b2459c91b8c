/**
 * Writes the TypeScript client of an OpenAPI document: its schemas as types, its operations as methods, and a
 * short runtime over `fetch` without dependencies. Knows the part of JSON Schema that the document uses, and
 * fails on anything else.
 */
import { readFileSync } from 'node:fs'

/** What walks over pages and follows events, as it stands behind its imports. */
const STREAMS = readFileSync(new URL('client_streams.ts', import.meta.url), 'utf8').replace(
  /^[^]*?from '[^']*'\n/,
  '',
)

interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: { [name: string]: Schema }
  additionalProperties?: boolean | Schema
  required?: string[]
  description?: string
  contentSchema?: Schema
  format?: string
}

interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  description: string
  schema: Schema & { default?: string | number | boolean }
}

interface Operation {
  operationId: string
  summary: string
  description: string
  parameters: Parameter[]
  responses: { [status: string]: { content?: { 'application/json'?: { schema: Schema } } } }
}

interface Document {
  info: { version: string }
  paths: { [path: string]: { get: Operation } }
  components: { schemas: { [name: string]: Schema } }
}

/** The text of `groundswell.ts`. @throws Error for a schema of an unknown kind */
export function typeScriptClient(document: unknown): string {
  const { info, paths, components } = document as Document
  // Streams have methods of their own.
  const operations = Object.entries(paths)
    .map(([path, { get }]) => ({ path, ...get }))
    .filter(({ responses }) => responses['200'].content?.['application/json'] !== undefined)
  const types = Object.entries(components.schemas).map(
    ([name, schema]) => `${comment(schema.description, '')}export type ${name} = ${typeOf(schema, '')}\n`,
  )
  const parameters = operations.flatMap((operation) => parametersType(operation))
  // A stream of events has no answer that a call could resolve to.
  const methods = operations.filter((operation) => answerOf(operation)).map((operation) => method(operation))
  return [
    `/**
 * Client of the groundswell wave-buoy API, version ${info.version}. It needs only \`fetch\`: Node 20, Deno, Bun, browsers.
 * \`npm run openapi\` makes this file from \`clients/openapi.json\`: do not edit it.
 */\n`,
    ...types,
    ...parameters,
    RUNTIME_TYPES,
    RUNTIME_CLASS.replace('METHODS', () => methods.join('\n')),
    STREAMS,
  ].join('\n')
}

function comment(text: string | undefined, indent: string): string {
  if (text === undefined || text === '') return ''
  const lines = text.replaceAll('*/', '*\\/').split('\n')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  const body = lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')
  return `${indent}/**\n${body}\n${indent} */\n`
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, const: only, enum: words, anyOf, oneOf, type } = schema
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '')
  if (only !== undefined) return literal(only)
  if (words !== undefined) return words.map((word) => literal(word)).join(' | ')
  if (schema.contentSchema !== undefined) return `${typeOf(schema.contentSchema, indent)} | string`
  const parts = oneOf ?? (type === undefined ? anyOf : undefined)
  if (parts !== undefined) return parts.map((part) => typeOf(part, indent)).join(' | ')
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each }, indent)).join(' | ')
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array': {
      const item = typeOf(schema.items!, indent)
      return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return objectType(schema, indent)
    case undefined:
    default:
      throw new Error(`a schema of an unknown kind: ${JSON.stringify(schema).slice(0, 200)}`)
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (properties === undefined && typeof additionalProperties === 'object') {
    return `{ [name: string]: ${typeOf(additionalProperties, indent)} }`
  }
  const inner = `${indent}  `
  const members = Object.entries(properties ?? {}).map(([name, schema]) =>
    member(name, required.includes(name), schema.description, schema, inner),
  )
  return `{\n${members.join('')}${indent}}`
}

function member(
  name: string,
  isRequired: boolean,
  description: string | undefined,
  schema: Schema,
  indent: string,
): string {
  const mark = isRequired ? '' : '?'
  return `${comment(description, indent)}${indent}${name}${mark}: ${typeOf(schema, indent)}\n`
}

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)

const pascal = (name: string): string => name[0].toUpperCase() + name.slice(1)
const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
/** The methods answer with typed JSON, so they do not take what shapes answers. */
const SHAPES = new Set(['format', 'fields', 'layout', 'units', 'bom'])
const queryOf = ({ parameters }: Operation): Parameter[] =>
  parameters.filter((parameter) => parameter.in === 'query' && !SHAPES.has(parameter.name))

function parametersType(operation: Operation): string[] {
  const query = queryOf(operation)
  if (query.length === 0) return []
  const members = query.map(({ name, required, description, schema }) => {
    const fallback = schema.default === undefined ? '' : ` Default: ${String(schema.default)}.`
    return member(name, required === true, description + fallback, schema, '  ')
  })
  const { operationId } = operation
  const head = `/** Parameters of \`${operationId}\`. */\nexport type ${pascal(operationId)}Parameters = {\n`
  return [`${head}${members.join('')}}\n`]
}

function answerOf({ responses }: Operation): { schema: Schema } | undefined {
  return responses['200'].content?.['application/json']
}

function method(operation: Operation & { path: string }): string {
  const { operationId, path, summary, description, parameters } = operation
  const answer = typeOf(answerOf(operation)!.schema, '')
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const query = queryOf(operation)
  const type = `${pascal(operationId)}Parameters`
  const optional = query.every(({ required }) => required !== true)
  const inputs = [
    ...inPath.map(({ name }) => `${camel(name)}: string | number`),
    ...(query.length === 0 ? [] : [`parameters: ${type}${optional ? ' = {}' : ''}`]),
    'options: CallOptions = {}',
  ]
  const target = path.replaceAll(
    /\{(\w+)\}/g,
    (_match, name: string) => `\${encodeURIComponent(${camel(name)})}`,
  )
  const quoted = inPath.length === 0 ? `'${target}'` : `\`${target}\``
  const said = comment(`${summary}.\n\n${description}`, '  ')
  const formats = textFormatsOf(operation)
  if (formats.length === 0) {
    const given = query.length === 0 ? '{}' : 'parameters'
    return `${said}  ${operationId}(${inputs.join(', ')}): Promise<${answer}> {\n    return this.#get(${quoted}, ${given}, options)\n  }\n`
  }
  const words = formats.map(literal).join(' | ')
  const shaped = query.length === 0 ? `TextForm<${words}>` : `${type} & TextForm<${words}>`
  const before = inPath.map(({ name }) => `${camel(name)}: string | number, `).join('')
  const plain = query.length === 0 ? '{}' : type
  return (
    `${said}  ${operationId}(${before}parameters: ${shaped}, options?: CallOptions): Promise<string>\n` +
    `  ${operationId}(${before}parameters${optional ? '?' : ''}: ${plain}, options?: CallOptions): Promise<${answer}>\n` +
    `  ${operationId}(${before}parameters: object = {}, options: CallOptions = {}): Promise<unknown> {\n` +
    `    return this.#get(${quoted}, parameters, options)\n  }\n`
  )
}

/** The formats of an operation that are text, but for JSON. */
function textFormatsOf({ parameters }: Operation): unknown[] {
  const format = parameters.find(({ name }) => name === 'format')
  return (format?.schema.enum ?? []).filter((word) => word !== 'json' && word !== 'parquet')
}

const RUNTIME_TYPES = `export interface Settings {
  /** Address of the operations, with the base path: \`http://127.0.0.1:8080/v2\`. */
  baseUrl: string
  /** Without a key only \`searchBuoys\`, \`nearestBuoys\` and \`searchPlaces\` answer. */
  key?: string
  /** Used instead of the global \`fetch\`. */
  fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  /** Ends the call early. */
  signal?: AbortSignal
  /** More headers, for instance \`Accept-Language\` or \`X-Request-Id\`. */
  headers?: { [name: string]: string }
}

/** With it a method resolves to the text of the answer in that format. */
export interface TextForm<Format extends string> {
  format: Format
  /** Names of columns, in this order. */
  fields?: readonly string[]
  /** With CSV: units in a second line, or after the names. */
  units?: '1' | 'name'
  /** With CSV: a byte order mark first. */
  bom?: '1'
}

/** The quota of this hour, as the newest answer gave it. */
export interface Quota {
  /** Calls an hour. */
  limit: number
  /** Calls left in this hour. */
  remaining: number
  /** When the hour ends. */
  resetAt: Date
}

/** Thrown for every answer that is not a success. */
export class GroundswellError extends Error {
  override name = 'GroundswellError'
  /** HTTP status. */
  readonly status: number
  /** The code for programs; \`unknown\` if something other than groundswell answered. */
  readonly code: ErrorAnswer['error'] | SnapshotGoneAnswer['error'] | 'unknown'
  /** Quote it when you ask for help. */
  readonly requestId: string | null
  /** Name of the wrong parameter, if the error is about one. */
  readonly parameter: string | null
  /** With \`snapshot_gone\`: the snapshot that is served now. */
  readonly current: string | null
  /** Seconds to wait before a retry, if the answer gives them. */
  readonly retryAfter: number | null

  constructor(status: number, body: Partial<ErrorAnswer | SnapshotGoneAnswer>, retryAfter: number | null) {
    super(body.message ?? \`the answer was \${status}\`)
    this.status = status
    this.code = body.error ?? 'unknown'
    this.requestId = body.request_id ?? null
    this.parameter = body.details?.parameter ?? null
    this.current = body.error === 'snapshot_gone' ? (body.details?.current ?? null) : null
    this.retryAfter = retryAfter
  }
}
`

const RUNTIME_CLASS = `/** The operations as methods. A call resolves to the whole answer, or throws. */
export class Groundswell {
  readonly #base: string
  readonly #headers: { [name: string]: string }
  readonly #fetch: typeof globalThis.fetch
  /** Null before the first answer that has a quota. */
  quota: Quota | null = null

  constructor({ baseUrl, key, fetch = globalThis.fetch }: Settings) {
    this.#base = baseUrl.replace(/\\/+$/, '')
    this.#headers = key === undefined ? {} : { Authorization: \`Bearer \${key}\` }
    // Browsers refuse a fetch that is called as a method of something else.
    this.#fetch = fetch.bind(globalThis)
  }

METHODS
  /**
   * The readings of a buoy, one after the other: \`for await (const reading of api.readings('anglet', { since }))\`.
   *
   * They are those of one snapshot, the current one at the first call, each exactly once, whatever is published
   * meanwhile. Where the server stops to hold that snapshot, what is left comes from its current one, from the last
   * reading on: no time comes twice, and none that both snapshots have is left out. Corrections of what has come already
   * do not come again: \`changes\` has them. With \`snapshot\` the walk throws instead. Its calls are tried again
   * for as long as \`patience\` says.
   */
  readings(buoyId: string | number, options: ReadingsOptions = {}): AsyncGenerator<Reading, void, undefined> {
    const path = \`/buoys/\${encodeURIComponent(buoyId)}/readings\`
    return walkReadings((...call) => this.#ask(...call), path, options)
  }

  /**
   * What distinguishes the current snapshot from the one of \`since\`, in pages: buoys on the first, readings on all.
   * All pages compare the same two snapshots. Ask next time since the \`until\` of the pages, after the last one.
   *
   * Throws a \`snapshot_gone\` where one of the two is not held any more. What has come then is a part: undo it, and
   * ask once more since the same snapshot. Where that throws at once, take the lists.
   */
  changes(since: string, options: ChangesOptions = {}): AsyncGenerator<ChangesPage, void, undefined> {
    return walkChanges((...call) => this.#ask(...call), since, options)
  }

  /**
   * Every snapshot that is published, from the current one on: \`for await (const { snapshot } of api.events())\`.
   *
   * Lost connections are reopened, a while after what the server asks for, at a random moment; then the newest
   * snapshot comes, not each one in between. Ends when you leave the loop; throws when \`signal\` aborts, and where the
   * server refuses for good (a wrong key, no such buoy, a server without events).
   */
  events(options: EventsOptions = {}): AsyncGenerator<SnapshotEvent, void, undefined> {
    return followEvents((...call) => this.#open(...call), options)
  }

  async #get<Answer>(path: string, parameters: object, options: CallOptions): Promise<Answer> {
    return (await this.#ask(path, parameters, options)).body as Answer
  }

  async #ask(
    path: string,
    parameters: object,
    options: CallOptions,
  ): Promise<{ body: unknown; snapshot: string | null }> {
    const answer = await this.#open(path, parameters, options)
    const { format } = parameters as { format?: string }
    const body: unknown = await (format === undefined ? answer.json() : answer.text())
    return { body, snapshot: answer.headers.get('X-Snapshot-Id') }
  }

  /** @throws GroundswellError for every answer that is not a success, and what \`fetch\` throws */
  async #open(path: string, parameters: object, { signal, headers }: CallOptions): Promise<Response> {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(parameters) as [string, Value | null | undefined][]) {
      if (value !== undefined && value !== null) query.set(name, textOf(value))
    }
    const asked = query.toString()
    const answer = await this.#fetch(\`\${this.#base}\${path}\${asked === '' ? '' : \`?\${asked}\`}\`, {
      headers: { ...this.#headers, ...headers },
      signal: signal ?? null,
    })
    const limit = answer.headers.get('X-RateLimit-Limit')
    if (limit !== null) {
      this.quota = {
        limit: Number(limit),
        remaining: Number(answer.headers.get('X-RateLimit-Remaining')),
        resetAt: new Date(Number(answer.headers.get('X-RateLimit-Reset')) * 1000),
      }
    }
    if (answer.ok) return answer
    const retryAfter = answer.headers.get('Retry-After')
    const body = (await answer.json().catch(() => ({}))) as Partial<ErrorAnswer | SnapshotGoneAnswer>
    throw new GroundswellError(answer.status, body, retryAfter === null ? null : Number(retryAfter))
  }
}

type Value = string | number | boolean | object

/** A value as text of a query. */
function textOf(value: Value): string {
  if (Array.isArray(value)) return value.join(',')
  // The API takes no exponents.
  if (typeof value === 'number' && /e-/.test(String(value))) return value.toFixed(12)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
`
