/**
 * Checks answers against the OpenAPI document: path, status, headers and body. A field that the document does
 * not name is as wrong as a missing one. The `Client` of the tests checks every answer that it gets.
 */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { openApiDocument } from '../../src/openapi/document.ts'
import { OPERATIONS } from '../../src/routes.ts'

/** Any part of a document. */
export type Json = { readonly [key: string]: unknown }

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

interface Operation {
  segments: string[]
  operation: Json
}

/** Reports of a failure quote this much of a body. */
const QUOTED = 300

/** Lists of some members, or by columns: the second schema of an answer. */
const SHAPED = /[?&](?:fields=|layout=columns)/

export class Conformance {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false })
  readonly #document: Json
  readonly #base: string
  readonly #operations: Operation[]
  readonly #compiled = new Map<unknown, ValidateFunction>()

  /** `document` is an OpenAPI document as JSON. */
  constructor(document: unknown) {
    this.#document = closed(document) as Json
    addFormats.default(this.#ajv)
    this.#ajv.addSchema({ $id: 'openapi:document', ...this.#document })
    const [{ url }] = this.#document.servers as [{ url: string }]
    this.#base = url
    this.#operations = Object.entries(this.#document.paths as { [path: string]: { get: Json } })
      .map(([path, { get }]) => ({ segments: (url + path).split('/'), operation: get }))
      .sort((a, b) => fixedWords(b.segments) - fixedWords(a.segments))
  }

  operationOf(path: string): Json | null {
    const segments = path.split('/')
    const found = this.#operations.find(
      (candidate) =>
        candidate.segments.length === segments.length &&
        candidate.segments.every((word, i) =>
          word.startsWith('{') ? segments[i] !== '' : word === segments[i],
        ),
    )
    return found?.operation ?? null
  }

  /**
   * `target` is path and query from the root of the server. @throws AssertionError saying what the document
   * does not allow
   */
  check(method: string, target: string, answer: Answer): void {
    const what = `${method} ${target.slice(0, QUOTED)} → ${answer.status} ${answer.text.slice(0, QUOTED)}`
    const path = target.split('?')[0]
    if (!path.startsWith(`${this.#base}/`)) return
    if (method === 'OPTIONS') {
      assert.equal(answer.status, 204, what)
      return
    }
    const operation = this.operationOf(path)
    if (operation === null || (method !== 'GET' && method !== 'HEAD')) {
      if (answer.status >= 400 && method !== 'HEAD') this.#checkError(answer, what)
      return
    }
    const documented = (operation.responses as { [status: string]: Json })[answer.status]
    assert.ok(documented !== undefined, `a status that is not documented: ${what}`)
    const response = this.#resolve(documented)
    this.#checkHeaders((response.headers ?? {}) as { [name: string]: Json }, answer, what)
    const content = response.content as { [type: string]: { schema: Json } } | undefined
    if (content === undefined || method === 'HEAD') {
      assert.equal(answer.text, '', `a body that is not documented: ${what}`)
      return
    }
    const type = String(answer.headers['content-type']).split(';')[0]
    assert.ok(type in content, `a type that is not documented, ${type}: ${what}`)
    if (type === 'application/json' || type === 'application/geo+json') {
      const { schema } = content[type]
      const [usual, shaped] = (schema.anyOf as Json[] | undefined) ?? [schema, schema]
      this.#validate(SHAPED.test(target) ? shaped : usual, parsed(answer.text, what), what)
    }
  }

  /** Errors outside the documented operations have the documented form, too. */
  #checkError(answer: Answer, what: string): void {
    if (answer.headers['content-type'] !== 'application/json') return
    this.#validate({ $ref: '#/components/schemas/ErrorAnswer' }, parsed(answer.text, what), what)
  }

  #checkHeaders(headers: { [name: string]: Json }, { headers: sent }: Answer, what: string): void {
    for (const [name, reference] of Object.entries(headers)) {
      const { required, schema } = this.#resolve(reference) as { required?: boolean; schema: Json }
      const text = sent[name.toLowerCase()] as string | undefined
      if (text === undefined) {
        assert.ok(required !== true, `no header ${name}: ${what}`)
        continue
      }
      const value = schema.type === 'integer' && /^[0-9]+$/.test(text) ? Number(text) : text
      this.#validate(schema, value, `header ${name} ${text} of ${what}`)
    }
    const known = new Set([
      ...Object.keys(headers).map((name) => name.toLowerCase()),
      'x-content-type-options',
    ])
    for (const name of Object.keys(sent)) {
      const ours = name.startsWith('x-') || name === 'etag' || name === 'retry-after'
      assert.ok(!ours || known.has(name), `a header that is not documented, ${name}: ${what}`)
    }
  }

  #validate(schema: Json, value: unknown, what: string): void {
    let validate = this.#compiled.get(schema.$ref ?? schema)
    if (validate === undefined) {
      validate =
        typeof schema.$ref === 'string'
          ? this.#ajv.getSchema(`openapi:document${schema.$ref}`)!
          : this.#ajv.compile(schema)
      this.#compiled.set(schema.$ref ?? schema, validate)
    }
    if (!validate(value)) assert.fail(`${errorText(validate.errors![0])}: ${what}`)
  }

  #resolve(part: Json): Json {
    if (typeof part.$ref !== 'string') return part
    let found: unknown = this.#document
    for (const key of part.$ref.slice(2).split('/')) found = (found as Json)[key]
    return found as Json
  }
}

function errorText({ instancePath, message, params }: ErrorObject): string {
  const where = instancePath === '' ? 'its root' : instancePath
  return `the body is off its schema at ${where}, ${message} ${JSON.stringify(params)}`
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return assert.fail(`the body is not JSON: ${what}`)
  }
}

const fixedWords = (segments: string[]): number => segments.filter((word) => !word.startsWith('{')).length

/** A copy in which schemas of objects with known fields allow no others. Examples stay as they are. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const copy: { [key: string]: unknown } = {}
  for (const [key, value] of Object.entries(part)) copy[key] = key === 'examples' ? value : closed(value)
  if (copy.type === 'object' && copy.properties !== undefined) copy.additionalProperties ??= false
  return copy
}

const known = new Map<string, Conformance>()

/** The check for a server with this base path. */
export function conformanceAt(basePath: string): Conformance {
  let conformance = known.get(basePath)
  if (conformance === undefined) {
    // As clients receive it.
    conformance = new Conformance(JSON.parse(JSON.stringify(openApiDocument(OPERATIONS, basePath))))
    known.set(basePath, conformance)
  }
  return conformance
}
