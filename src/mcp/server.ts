/** The tools as servers of the Model Context Protocol, whatever carries its messages. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import {
  createMcpHandler,
  fromJsonSchema,
  isLegacyRequest,
  type jsonSchemaValidator,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { type Api, AdviceError, plainText, ToolCall } from './call.ts'
import { TOOLS, UNITS } from './tools.ts'

/** Calls that run at a time, and those that wait for their turn. */
const CALLS_AT_A_TIME = 8
const MOST_WAITING = 256

const INSTRUCTIONS =
  'Waves measured by ocean buoys, forecasts and tides. Begin with find_buoys: other tools take its ids. Directions are where waves or wind come from. Times are UTC unless an answer names a timezone. null is a value that was not measured or is missing, never 0. Tell how old readings are, pass on credits, and say so where data are made up.'

interface ToolOptions {
  readonly version: string
  /** Epoch seconds. */
  readonly clock: () => number
  /** Takes the text of a fault of ours. */
  readonly onFault: (text: string) => void
}

/** The arguments' checks say what is allowed: an assistant asks again by that. */
const AJV = new Ajv2020({ strict: false, verbose: true })
const CHECKS: jsonSchemaValidator = {
  // The type of the interface, whose callers choose it.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  getValidator<T>(schema: object) {
    const check = AJV.compile(schema)
    return (input: unknown) =>
      check(input)
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: adviceOf(check.errors![0]) }
  },
}

function adviceOf({ instancePath, keyword, params, parentSchema, message }: ErrorObject): string {
  const name = instancePath === '' ? 'the call' : instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'enum') {
    return `${name} is none of the allowed values. Allowed: ${(params['allowedValues'] as string[]).join(', ')}`
  }
  if (keyword === 'additionalProperties') {
    const allowed = Object.keys((parentSchema as { properties: object }).properties).join(', ')
    return `${name} has no ${plainText(String(params['additionalProperty']))}. Allowed: ${allowed}`
  }
  return `${name} ${message}`
}

const DECLARED = Object.entries(TOOLS).map(([name, { title, description, input, output }]) => {
  const inputSchema = fromJsonSchema<never>(input, CHECKS)
  const outputSchema = fromJsonSchema(output, CHECKS)
  const annotations = { title, readOnlyHint: true, idempotentHint: true }
  return [name, { title, description, inputSchema, outputSchema, annotations }] as const
})

/** Servers of the tools, all calls of which share their turns. */
export class ToolServers {
  readonly #options: ToolOptions
  readonly #turns = new Turns()

  constructor(options: ToolOptions) {
    this.#options = options
  }

  open(api: Api): McpServer {
    const { version } = this.#options
    const about = { name: 'groundswell', title: 'Wave buoys', version }
    const capabilities = { tools: { listChanged: false } }
    const server = new McpServer(about, { instructions: INSTRUCTIONS, capabilities })
    for (const [name, declared] of DECLARED) {
      server.registerTool(name, declared, async (asked, { mcpReq: { signal } }) => {
        await this.#turns.take(signal)
        try {
          return await this.#told(name, asked, new ToolCall(api, signal))
        } catch (error) {
          if (error instanceof AdviceError || signal.aborted) throw error
          this.#options.onFault(`${(error as Error).stack}`)
          throw new AdviceError('This program has a fault, which its log describes: ask something else.')
        } finally {
          this.#turns.give()
        }
      })
    }
    return server
  }

  async #told(name: string, asked: never, call: ToolCall) {
    const { notes, ...data } = await TOOLS[name].answer(asked, call, this.#options.clock())
    if (call.isDemo) notes.push('The data are made up: this is a demo.')
    if (call.quotaAdvice !== null) notes.push(call.quotaAdvice)
    const told = { ...data, notes, units: UNITS, snapshot: call.snapshot }
    return { content: [{ type: 'text' as const, text: JSON.stringify(told) }], structuredContent: told }
  }

  /**
   * Answers one POST of Streamable HTTP, in JSON. Nothing is kept between two: there are no sessions, and
   * nothing to subscribe to.
   * @param request its signal ends it @param text its body
   * @param charge pays for the list of tools, or has the answer in place of it
   */
  async answer(
    request: Request,
    text: string,
    api: Api,
    charge: () => Promise<Response | null>,
  ): Promise<Response> {
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      message = undefined
    }
    if (Array.isArray(message)) return refusalOf(BATCH)
    const { method } = (message ?? {}) as { method?: unknown }
    if (method === 'subscriptions/listen') return refusalOf(SUBSCRIPTION, idOf(message))
    const refusal = method === 'tools/list' ? await charge() : null
    if (refusal !== null) return refusal
    const isOld = await isLegacyRequest(request, message)
    const answer = isOld
      ? await this.#answerOld(request, api, message)
      : await this.#answerNew(request, api, message)
    if (answer.headers.get('content-type')?.startsWith('text/event-stream') === true)
      throw new Error('an answer is a stream')
    return answer
  }

  /** Answers by the protocol of 2026-07-28. */
  #answerNew(request: Request, api: Api, parsedBody: unknown): Promise<Response> {
    // Told to answer in JSON, the handler writes a warning past the log. Our tools send nothing that begins a
    // stream.
    const handler = createMcpHandler(() => this.open(api), { legacy: 'reject', maxSubscriptions: 0 })
    return handler.fetch(request, { parsedBody })
  }

  /** Answers by the earlier protocols. */
  async #answerOld(request: Request, api: Api, parsedBody: unknown): Promise<Response> {
    const server = this.open(api)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    const close = (): void => void server.close()
    request.signal.addEventListener('abort', close, { once: true })
    try {
      return await transport.handleRequest(request, { parsedBody })
    } finally {
      close()
    }
  }
}

const BATCH = 'A batch of messages is not taken: send one message in each request'
const SUBSCRIPTION = 'There is nothing to subscribe to'
const CODES = { [BATCH]: -32_600, [SUBSCRIPTION]: -32_601 } as const

/** The id of a message that has one, as JSON-RPC allows it. */
function idOf(message: unknown): string | number | null {
  const { id } = message as { id?: unknown }
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

function refusalOf(reason: keyof typeof CODES, id: string | number | null = null): Response {
  const error = { code: CODES[reason], message: reason }
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 })
}

/** Turns of calls, in their order. */
class Turns {
  #free = CALLS_AT_A_TIME
  readonly #waiting: (() => void)[] = []

  /** Waits for a turn. @throws AdviceError where too many wait, and the reason of an abort */
  async take(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--
      return
    }
    if (this.#waiting.length >= MOST_WAITING) throw new AdviceError('Too many calls at once: ask fewer.')
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal.reason as Error)
      }
      this.#waiting.push(begin)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Gives the turn of a call that is over to the next. */
  give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
