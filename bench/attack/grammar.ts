/**
 * Requests drawn from a grammar: paths, parameters, values, headers, encodings and framing, each right,
 * nearly right or far off. Every answer has a status that the description of the API names for its operation,
 * or one of the engine's own, and a body that is JSON where it says so; a sample is held against the whole
 * description. The same seed draws the same requests.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { seededRandom } from '../http/statistics.ts'
import type { RawReply } from '../http/raw.ts'
import { openApiDocument } from '../../src/openapi/document.ts'
import { OPERATIONS } from '../../src/routes.ts'
import { conformanceAt, type Json } from '../../test/openapi/conformance.ts'
import { operationsOf, type DocumentedOperation } from '../../test/openapi/requests.ts'
import { amount, Tally, type Attack, type Finding, type Target } from './attack.ts'
import { Dialogue } from './dialogue.ts'
import { ENGINE_STATUSES, ODD_REQUESTS } from './framing.ts'
import {
  METHODS,
  ODD_HEADERS,
  ODD_KEYS,
  ODD_PAIRS,
  ODD_VALUES,
  ODD_WORDS,
  PLAIN_VALUES,
  UNKNOWN_METHODS,
} from './words.ts'

const BASE = '/v2'
const CONNECTIONS = 16
/** Requests that go out together, at most. */
const DEPTH = 24
/** One answer in so many is held against the whole description. */
const CHECKED_EVERY = 16
const ANSWER_LIMIT_MS = 20_000
/** So many different faults are reported. */
const TOLD = 8

interface Drawn {
  text: string
  method: string
  /** As in the request line. */
  target: string
  /** Its framing or bytes are such that the engine may refuse it and end the connection. */
  isOdd: boolean
  /** Its answer may be large: it is asked alone. */
  isLarge: boolean
}

type Random = () => number

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]
const whole = (random: Random, below: number): number => Math.floor(random() * below)

const isControlled = (text: string): boolean => /[^\x21-\x7e]/.test(text)

/** An endless row of requests. */
class Grammar {
  readonly #random: Random
  readonly #operations: readonly DocumentedOperation[]
  readonly #weights: readonly number[]
  readonly #target: Target

  constructor(seed: number, target: Target, operations: readonly DocumentedOperation[]) {
    this.#random = seededRandom(seed)
    this.#operations = operations
    this.#target = target
    // Answers of half a megabyte and more are rare, or the run would be about them alone.
    this.#weights = operations.map(({ id }) => ({ readingSeries: 0.1, mapBuoys: 0.05 })[id] ?? 1)
  }

  draw(): Drawn {
    const random = this.#random
    if (random() < 0.01) return this.#oddFraming()
    const operation = this.#operation()
    const path = this.#path(operation)
    const query = this.#query(operation)
    const target = query === '' ? path : `${path}?${query}`
    const method = this.#method()
    const headers = this.#headers()
    // node:http refuses methods that it does not know.
    const isOdd =
      isControlled(target) || headers.isOdd || !target.startsWith('/') || UNKNOWN_METHODS.has(method)
    return {
      text: `${method} ${target} HTTP/1.1\r\nHost: a\r\n${headers.lines}\r\n`,
      method,
      target,
      isOdd,
      isLarge:
        operation.id === 'readingSeries' || operation.id === 'mapBuoys' || /per_page|limit/.test(query),
    }
  }

  #oddFraming(): Drawn {
    const { bytes } = pick(this.#random, ODD_REQUESTS)
    const [method, target = ''] = bytes.trimStart().split(' ', 2)
    return { text: bytes, method, target, isOdd: true, isLarge: true }
  }

  #operation(): DocumentedOperation {
    const sum = this.#weights.reduce((a, b) => a + b, 0)
    let at = this.#random() * sum
    const index = this.#weights.findIndex((weight) => (at -= weight) < 0)
    return this.#operations[Math.max(0, index)]
  }

  #path({ path, inPath }: DocumentedOperation): string {
    const random = this.#random
    let made = path
    for (const { name, example } of inPath) {
      const word =
        random() < 0.6
          ? pick(random, [example, ...this.#target.buoys, '1', '2', '6'])
          : pick(random, ODD_WORDS)
      made = made.replace(`{${name}}`, () => word)
    }
    if (random() < 0.9) return made
    const changes: readonly ((text: string) => string)[] = [
      (text) => `${text}/`,
      (text) => `/${text}`,
      (text) => text.replace(BASE, ''),
      (text) => text.replace(BASE, '/v1'),
      (text) => text.replace(BASE, `${BASE}/.`),
      (text) => text.replaceAll('/', '//'),
      (text) => text.toUpperCase(),
      (text) => text.slice(1),
      (text) => `${text}%00`,
      (text) => `${text};jsessionid=1`,
      (text) => `${text}#fragment`,
      (text) => `${text}\xe9`,
      (text) => text.replaceAll('u', '%75'),
      (text) => `http://a${text}`,
      () => '/',
      () => '/openapi.json',
      () => `${BASE}/openapi.json`,
      () => '/docs',
      () => '/favicon.ico',
      () => `/${'x/'.repeat(whole(random, 3000))}`,
    ]
    return pick(random, changes)(made)
  }

  #query({ query }: DocumentedOperation): string {
    const random = this.#random
    const pairs: string[] = []
    for (const parameter of query) {
      if (random() < (parameter.required ? 0.1 : 0.6)) continue
      pairs.push(`${this.#name(parameter.name)}=${this.#value(parameter)}`)
      if (random() < 0.03) pairs.push(`${parameter.name}=${this.#value(parameter)}`)
    }
    if (random() < 0.03) pairs.push(`${pick(random, ODD_VALUES)}=${pick(random, ODD_VALUES)}`)
    if (random() < 0.03) pairs.push(`api_key=${random() < 0.5 ? this.#target.key : pick(random, ODD_VALUES)}`)
    if (random() < 0.03) pairs.push(pick(random, ODD_PAIRS))
    if (random() < 0.002) pairs.push(...Array.from({ length: 600 }, (_, i) => `p${i}=${i}`))
    return pairs.join('&')
  }

  #name(name: string): string {
    const random = this.#random
    if (random() < 0.95) return name
    return pick(random, [
      `${name}[]`,
      `${name}%5B%5D`,
      name.toUpperCase(),
      `%${name.codePointAt(0)!.toString(16)}${name.slice(1)}`,
      `${name}+`,
      `${name}%00`,
      `season_${name}`,
    ])
  }

  #value({ schema, example }: DocumentedOperation['query'][number]): string {
    const random = this.#random
    const kind = random()
    if (kind < 0.45) {
      if (schema.enum !== undefined) return pick(random, schema.enum)
      if (example !== undefined && random() < 0.5) return encodeURIComponent(String(example))
      return pick(random, PLAIN_VALUES[schema.type ?? 'string'] ?? PLAIN_VALUES['string'])
    }
    if (kind < 0.6) {
      const { minimum, maximum } = schema
      const near = [minimum, maximum].filter((limit) => limit !== undefined)
      if (near.length > 0) return String(pick(random, near) + whole(random, 3) - 1)
      return String(whole(random, 5000) - 1000)
    }
    return pick(random, ODD_VALUES)
  }

  #method(): string {
    const random = this.#random
    const kind = random()
    if (kind < 0.84) return 'GET'
    if (kind < 0.92) return 'HEAD'
    return kind < 0.96 ? 'OPTIONS' : pick(random, METHODS)
  }

  #headers(): { lines: string; isOdd: boolean } {
    const random = this.#random
    const kind = random()
    const lines: string[] = []
    if (kind < 0.85) lines.push(`Authorization: Bearer ${this.#target.key}`)
    else if (kind < 0.93) {
      lines.push(pick(random, ODD_KEYS).replaceAll('KEY', this.#target.key))
    }
    let count = random() < 0.5 ? 0 : whole(random, 4)
    if (random() < 0.001) count = 60
    for (let i = 0; i < count; i++) lines.push(pick(random, ODD_HEADERS))
    const isClosing = random() < 0.004
    if (isClosing) lines.push('Connection: close')
    const text = lines.map((line) => `${line}\r\n`).join('')
    return { lines: text, isOdd: isClosing || /[^\t\x20-\x7e\r\n]/.test(text) || text.length > 4000 }
  }
}

/** What is wrong with answers, how often, and an example of each. */
class Judge {
  readonly #conformance = conformanceAt(BASE)
  readonly #statuses = new Map<Json, ReadonlySet<number>>()
  readonly statuses = new Tally()
  readonly faults = new Map<string, { count: number; example: string }>()
  answered = 0
  /** Connections that ended without a reason. */
  cut = 0
  checked = 0

  fault(what: string, example: string): void {
    const known = this.faults.get(what)
    if (known === undefined) this.faults.set(what, { count: 1, example })
    else known.count++
  }

  see(asked: Drawn, reply: RawReply): void {
    this.answered++
    const { status, head, body } = reply
    this.statuses.add(status)
    const what = `${asked.method} ${asked.target.slice(0, 150)}`
    if (status >= 500 && status !== 503 && status !== 505) {
      this.fault(`status ${status}`, what)
      return
    }
    if (status === 503 && !/\r\nretry-after: *\d+/i.test(head)) {
      this.fault('status 503 without Retry-After', what)
      return
    }
    const type = /\r\ncontent-type: *([^\r]*)/i.exec(head)?.[1] ?? ''
    let text = ''
    if (asked.method !== 'HEAD' && body.length > 0) {
      try {
        text = textOf(head, body)
        if (type === 'application/json') JSON.parse(text)
      } catch {
        this.fault('a body that is no JSON', `${what} → ${JSON.stringify(body.toString('latin1', 0, 100))}`)
        return
      }
    }
    if (asked.isOdd) {
      if (!ODD_STATUSES.has(status) && !ENGINE_STATUSES.has(status)) this.fault(`status ${status}`, what)
      return
    }
    if (!this.#allowed(asked).has(status)) {
      this.fault(`status ${status} that is not documented`, what)
      return
    }
    if (this.answered % CHECKED_EVERY !== 0 || type !== 'application/json') return
    this.checked++
    try {
      this.#conformance.check(asked.method, asked.target, {
        status,
        headers: headersOf(head),
        text,
      })
    } catch (error) {
      this.fault('an answer off the description', (error as Error).message.slice(0, 400))
    }
  }

  #allowed({ method, target }: Drawn): ReadonlySet<number> {
    if (method === 'OPTIONS') return OPTIONS_STATUSES
    if (method !== 'GET' && method !== 'HEAD') return OTHER_METHOD_STATUSES
    const operation = this.#conformance.operationOf(target.split('?', 1)[0])
    if (operation === null) return NO_OPERATION_STATUSES
    let statuses = this.#statuses.get(operation)
    if (statuses === undefined) {
      statuses = new Set(Object.keys(operation.responses as object).map(Number))
      this.#statuses.set(operation, statuses)
    }
    return statuses
  }
}

const OPTIONS_STATUSES: ReadonlySet<number> = new Set([204])
const OTHER_METHOD_STATUSES: ReadonlySet<number> = new Set([405])
/** Pages, files, and paths that name nothing. */
const NO_OPERATION_STATUSES: ReadonlySet<number> = new Set([200, 304, 404])
const ODD_STATUSES: ReadonlySet<number> = new Set([200, 204, 304, 401, 404, 405, 410, 422, 503])

/** @throws Error where the body is not what its coding says */
function textOf(head: string, body: Buffer): string {
  const coding = /\r\ncontent-encoding: *([a-z]+)/i.exec(head)?.[1]
  if (coding === 'gzip') return gunzipSync(body).toString('utf8')
  return (coding === 'br' ? brotliDecompressSync(body) : body).toString('utf8')
}

function headersOf(head: string): IncomingHttpHeaders {
  return Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
  )
}

/** One batch over one connection, which is returned while it can be used again. */
async function converse(
  port: number,
  batch: readonly Drawn[],
  kept: Dialogue | null,
  judge: Judge,
): Promise<Dialogue | null> {
  const dialogue = kept ?? new Dialogue(port)
  const before = dialogue.replies.length
  dialogue.write(
    batch.map(({ text }) => text).join(''),
    batch.map(({ method }) => method === 'HEAD'),
  )
  const all = await dialogue.heard(before + batch.length, ANSWER_LIMIT_MS)
  const replies = dialogue.replies.splice(0)
  const last = batch.at(-1)!
  replies.forEach((reply, i) => {
    if (i >= batch.length) return
    // What the engine says of the last may overtake the answers before it, and ends the connection.
    const isEngines = ENGINE_STATUSES.has(reply.status) && i === replies.length - 1 && dialogue.ended
    judge.see(isEngines && last.isOdd ? last : batch[i], reply)
  })
  if (dialogue.garbled !== null) judge.fault(dialogue.garbled, last.target.slice(0, 100))
  if (all && !dialogue.ended && dialogue.garbled === null && !last.isOdd) return dialogue
  dialogue.close()
  if (all) return null
  // Why it may have ended before all was answered.
  const reply = replies.at(-1)
  const isTold = reply !== undefined && /\r\nconnection: *close/i.test(reply.head)
  if (isTold || last.isOdd) return null
  const unanswered = batch[replies.length]
  // A kept connection may be ended by the server just as it is used again.
  if (dialogue.ended) judge.cut++
  else judge.fault('no answer', `${unanswered.method} ${unanswered.target.slice(0, 150)}`)
  return null
}

/** Batches of small answers, large ones alone, odd ones last of their batch. */
function* batches(grammar: Grammar, random: Random): Generator<Drawn[]> {
  for (;;) {
    const batch: Drawn[] = []
    const depth = 1 + whole(random, DEPTH)
    while (batch.length < depth) {
      const drawn = grammar.draw()
      if (drawn.isLarge && batch.length > 0) {
        yield batch.splice(0)
      }
      batch.push(drawn)
      if (drawn.isLarge || drawn.isOdd) break
    }
    yield batch
  }
}

async function fuzz(target: Target, count: number, seed: number): Promise<Finding> {
  const document = JSON.parse(JSON.stringify(openApiDocument(OPERATIONS, BASE))) as Json
  const operations = operationsOf(document)
  const judge = new Judge()
  const each = Math.ceil(count / CONNECTIONS)
  const speak = async (n: number): Promise<void> => {
    const grammar = new Grammar(seed * CONNECTIONS + n, target, operations)
    let dialogue: Dialogue | null = null
    let asked = 0
    for (const batch of batches(grammar, seededRandom(seed * CONNECTIONS + n + 1e6))) {
      if (asked >= each) break
      dialogue = await converse(target.port, batch, dialogue, judge)
      asked += batch.length
    }
    dialogue?.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => speak(n)))
  const { answered, checked, statuses, cut, faults } = judge
  return {
    did: `seed ${seed}: ${answered.toLocaleString('en')} answered (${statuses.toString()}), ${checked.toLocaleString('en')} held against the description, ${cut} connections ended without a reason`,
    faults: [...faults]
      .slice(0, TOLD)
      .map(([what, { count: times, example }]) => `${what} × ${times}: ${example}`),
  }
}

export const GRAMMAR: readonly Attack[] = [
  {
    name: 'grammar',
    about: '1,000,000 requests drawn from a grammar, a tenth of them without --long',
    usualShare: 0.1,
    run: (target, scale) => fuzz(target, amount(1_000_000, scale), target.seed),
  },
]
