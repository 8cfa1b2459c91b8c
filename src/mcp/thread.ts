/**
 * The thread that answers assistants who come by address (`POST /mcp`), so that serving threads do not. What
 * its tools ask, the serving thread of the message answers, as it answers any client.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { yieldToServing } from '../system/thread.ts'
import { faultText } from '../system/text.ts'
import { AdviceError, type Api, type ApiAnswer, TOO_LONG } from './call.ts'
import { ToolServers } from './server.ts'

export interface ToolsStart {
  /** One Int32, which counts up while the thread is alive. */
  readonly signs: SharedArrayBuffer
  readonly version: string
  /** One Float64: seconds by which its clock is ahead of the machine's. */
  readonly clockShift: SharedArrayBuffer
}

/** `number`: that of a message on its port; `call`: that of a request of its tool. */
export type ToTools =
  | {
      type: 'message'
      number: number
      headers: readonly (readonly [name: string, value: string])[]
      body: Uint8Array<ArrayBuffer>
    }
  /** Nobody waits for the answer any more. */
  | { type: 'gone'; number: number }
  /** `head`: status and header lines; `body` null: it is too long. */
  | { type: 'answer'; call: number; head: string; body: Uint8Array | null }

export type FromTools =
  /** A request for a path with a query; null charges one and asks nothing. */
  | { type: 'ask'; number: number; call: number; target: string | null }
  | { type: 'leave'; call: number }
  | { type: 'reply'; number: number; status: number; retryAfter: string; body: Uint8Array | null }

export type FromToolsThread = { type: 'fault'; message: string }

/** Time between two signs of life. */
const ALIVE_MS = 250
/** Longest time of a message: its tool may wait for its turn, and ask several times. */
const LONGEST_MS = 60_000
/** Seconds after which to ask again. */
const RETRY_AFTER = '8'
const [NO_CONTENT, BAD_REQUEST, RATE_LIMITED, FAULT, BUSY] = [204, 400, 429, 500, 503]

const start = workerData as ToolsStart
const main = parentPort!
const alive = new Int32Array(start.signs)
const shift = new Float64Array(start.clockShift)
const onFault = (message: string): void =>
  main.postMessage({ type: 'fault', message } satisfies FromToolsThread)
const clock = (): number => Date.now() / 1000 + shift[0]
const servers = new ToolServers({ version: start.version, clock, onFault })

yieldToServing()

const refusal = (status: number, message: string, retryAfter = ''): Response =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32_000, message } },
    { status, headers: { 'Retry-After': retryAfter } },
  )

function connect(port: MessagePort): void {
  const messages = new Map<number, AbortController>()
  const asked = new Map<number, (head: string, body: Uint8Array | null) => void>()
  let last = 0

  const ask = (number: number, target: string | null, signal: AbortSignal): Promise<ApiAnswer> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const call = ++last
      const leave = (): void => {
        asked.delete(call)
        port.postMessage({ type: 'leave', call } satisfies FromTools)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      asked.set(call, (head, body) => {
        asked.delete(call)
        signal.removeEventListener('abort', leave)
        if (body === null) reject(new AdviceError(TOO_LONG))
        else resolve(answerOf(head, body))
      })
      port.postMessage({ type: 'ask', number, call, target } satisfies FromTools)
    })

  const answer = async (
    number: number,
    { headers, body }: Message,
    signal: AbortSignal,
  ): Promise<Response> => {
    const api: Api = {
      name: 'this server',
      keyAdvice:
        'The program that asks has to send the header Authorization: Bearer KEY; without a key only find_buoys answers.',
      ask: (target, ends) => ask(number, target, ends),
    }
    const charge = async (): Promise<Response | null> => {
      const { status, text, header } = await ask(number, null, signal)
      if (status === NO_CONTENT) return null
      const { message } = JSON.parse(text) as { message: string }
      return refusal(status === RATE_LIMITED ? status : BUSY, message, header('Retry-After') ?? RETRY_AFTER)
    }
    let request: Request
    try {
      const sent = headers.map(([name, value]): [string, string] => [name, value])
      request = new Request('http://localhost/mcp', { method: 'POST', headers: sent, body, signal })
    } catch {
      return refusal(BAD_REQUEST, 'A header is malformed. Allowed: visible characters of ASCII')
    }
    return servers.answer(request, new TextDecoder().decode(body), api, charge)
  }

  const take = async (message: Message): Promise<void> => {
    const { number } = message
    const gone = new AbortController()
    messages.set(number, gone)
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(LONGEST_MS)])
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
    let response: Response
    try {
      response = await Promise.race([answer(number, message, signal), aborted])
    } catch (error) {
      if (!signal.aborted) onFault(faultText(error))
      response = signal.aborted
        ? refusal(BUSY, 'The answer takes too long: ask for less, or again later', RETRY_AFTER)
        : refusal(FAULT, 'Internal error')
    }
    const { status, headers } = response
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (!messages.delete(number)) return
    const reply: FromTools = {
      type: 'reply',
      number,
      status,
      retryAfter: headers.get('Retry-After') ?? '',
      body: bytes.length === 0 ? null : bytes,
    }
    port.postMessage(reply, [bytes.buffer])
  }

  port.on('message', (message: ToTools) => {
    if (message.type === 'message') void take(message)
    else if (message.type === 'answer') asked.get(message.call)?.(message.head, message.body)
    else {
      messages.get(message.number)?.abort()
      messages.delete(message.number)
    }
  })
  port.on('close', () => {
    for (const gone of messages.values()) gone.abort()
    messages.clear()
  })
}

type Message = Extract<ToTools, { type: 'message' }>

/** @param head as in `200 OK\\r\\nX-Demo: true` */
function answerOf(head: string, body: Uint8Array): ApiAnswer {
  const [status, ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')
  return { status: Number(status.slice(0, 3)), header: (name) => headers.get(name), text }
}

main.on('message', ({ port }: { port: MessagePort }) => connect(port))
setInterval(() => Atomics.add(alive, 0, 1), ALIVE_MS)
