/** A client that shows the bytes: the tests' own reading of HTTP, sharing nothing with the engines. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface Answer {
  readonly status: number
  /** Lower-case names; values in order of appearance. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: string
  readonly bytes: Buffer
}

/** Longer than a slow reader needs for 8 MB. */
const PATIENCE_MS = 240_000

export function request(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: test', ...headers, '', body].join('\r\n')
}

export class RawClient {
  readonly socket: Socket
  received: Buffer = Buffer.alloc(0)
  /** The server has closed its side, or reset the connection. */
  ended = false
  #changed: () => void = () => {}

  constructor(port: number, host = '127.0.0.1') {
    this.socket = connect(port, host)
    const over = (): void => {
      this.ended = true
      this.#changed()
    }
    this.socket.on('data', (bytes) => {
      this.received = appended(this.received, bytes)
      this.#changed()
    })
    this.socket.on('end', over).on('error', over).on('close', over)
  }

  write(text: string | Buffer): void {
    this.socket.write(text)
  }

  async until(condition: () => boolean, timeoutMs = PATIENCE_MS): Promise<void> {
    const deadline = setTimeout(() => this.#changed(), timeoutMs)
    const start = performance.now()
    while (!condition()) {
      if (performance.now() - start >= timeoutMs) {
        throw new Error(
          `not within ${timeoutMs} ms; received ${this.received.length} bytes, ended ${this.ended}: ` +
            this.received.toString('latin1', 0, 300),
        )
      }
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
    clearTimeout(deadline)
  }

  /**
   * Takes the next answer, but for an interim `100 Continue`, off what is received. An answer to HEAD has no
   * body whatever its length says.
   */
  async answer(method = 'GET'): Promise<Answer> {
    let taken: [Answer, number] | null = null
    await this.until(() => (taken = parse(this.received, method)) !== null || this.ended)
    if (taken === null) throw new Error(`closed without an answer: ${this.received.toString('latin1')}`)
    const [answer, length] = taken as [Answer, number]
    this.received = this.received.subarray(length)
    return answer
  }

  /** Sends one request, such as `HEAD /path`, and takes its answer. */
  ask(line: string, headers: readonly string[] = [], body = ''): Promise<Answer> {
    this.write(request(line, headers, body))
    return this.answer(line.split(' ', 1)[0])
  }

  /** Waits for the server's close; what came after the last answer stays in `received`. */
  async closed(timeoutMs = PATIENCE_MS): Promise<void> {
    await this.until(() => this.ended, timeoutMs)
  }
}

/** `more` behind `bytes`, in room that doubles: 8 MB come in hundreds of pieces. */
function appended(bytes: Buffer, more: Buffer): Buffer {
  const length = bytes.length + more.length
  let whole = bytes
  if (bytes.byteOffset + length > bytes.buffer.byteLength) {
    whole = Buffer.alloc(2 * length)
    bytes.copy(whole)
  }
  const end = Buffer.from(whole.buffer, whole.byteOffset, length)
  more.copy(end, bytes.length)
  return end
}

function parse(bytes: Buffer, method: string): [Answer, number] | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const match = /^HTTP\/1\.1 (\d{3}) [A-Z][A-Za-z ]*$/.exec(statusLine)
  if (match === null) throw new Error(`not a status line: ${statusLine}`)
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const field = /^([A-Za-z-]+): ?(.*)$/.exec(line)
    if (field === null) throw new Error(`not a header: ${line}`)
    const [, name = '', value = ''] = field
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value])
  }
  const status = Number(match[1])
  const bodyless = method === 'HEAD' || status === 204 || status === 304
  const bodyLength = bodyless ? 0 : Number(headers.get('content-length')?.[0] ?? 0)
  const end = headEnd + 4 + bodyLength
  if (bytes.length < end) return null
  if (status === 100) {
    const final = parse(bytes.subarray(end), method)
    return final === null ? null : [final[0], end + final[1]]
  }
  const body = bytes.subarray(headEnd + 4, end)
  return [{ status, headers, body: body.toString(), bytes: body }, end]
}
