/** The tools as servers of the Model Context Protocol, whatever carries its messages. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { fromJsonSchema, type jsonSchemaValidator, McpServer } from '@modelcontextprotocol/server'
import { AdviceError, plainText, ToolCall } from './call.ts'
import { TOOLS, UNITS } from './tools.ts'

/** Calls that run at a time, and those that wait for their turn. */
const CALLS_AT_A_TIME = 8
const MOST_WAITING = 100

const INSTRUCTIONS =
  'Waves measured by ocean buoys, forecasts and tides. Begin with find_buoys: other tools take its ids. Directions are where waves or wind come from. Times are UTC unless an answer names a timezone. null is a value that was not measured or is missing, never 0. Tell how old readings are, pass on credits, and say so where data are made up.'

export interface ToolOptions {
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

/** Servers of the tools, all calls of which share their turns. */
export class ToolServers {
  readonly #options: ToolOptions
  readonly #turns = new Turns()

  constructor(options: ToolOptions) {
    this.#options = options
  }

  /** @param base address of the operations, without a slash at its end @param key of the API, or null */
  open(base: string, key: string | null): McpServer {
    const { version, clock, onFault } = this.#options
    const about = { name: 'groundswell', title: 'Wave buoys', version }
    const server = new McpServer(about, { instructions: INSTRUCTIONS })
    for (const [name, tool] of Object.entries(TOOLS)) {
      const { title, description } = tool
      const inputSchema = fromJsonSchema<never>(tool.input, CHECKS)
      const outputSchema = fromJsonSchema(tool.output, CHECKS)
      const annotations = { title, readOnlyHint: true, idempotentHint: true }
      server.registerTool(
        name,
        { title, description, inputSchema, outputSchema, annotations },
        async (asked, { mcpReq: { signal } }) => {
          await this.#turns.take(signal)
          try {
            const call = new ToolCall(base, key, signal)
            const { notes, ...data } = await tool.answer(asked, call, clock())
            if (call.isDemo) notes.push('The data are made up: this is a demo.')
            if (call.quotaAdvice !== null) notes.push(call.quotaAdvice)
            const told = { ...data, notes, units: UNITS, snapshot: call.snapshot }
            return { content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told }
          } catch (error) {
            if (error instanceof AdviceError || signal.aborted) throw error
            onFault(`${(error as Error).stack}`)
            throw new AdviceError('This program has a fault, which its log describes: ask something else.')
          } finally {
            this.#turns.give()
          }
        },
      )
    }
    return server
  }
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
