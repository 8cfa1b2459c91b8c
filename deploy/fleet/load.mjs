// A load of requests at a constant rate over kept connections. It reads answers strictly: whatever a client
// sees of a failure is counted, with what it was.
import { connect } from 'node:net'

/** Time between two looks at which requests are due. */
const TICK_MS = 2
/** An answer that takes longer counts as failed. */
const PATIENCE_MS = 10_000
/** Kinds of failures that are kept in words; all are counted. */
const MOST_KINDS = 20
const LINE_END = '\r\n'
const HEAD_END = '\r\n\r\n'
const MILLISECONDS = 1000

/** One connection and the request on it, if any. */
class Connection {
  #options
  #socket = null
  #isOpen = false
  #request = null
  #buffer = []
  #bytes = 0
  /** Bytes of the whole answer, once its head is there; null while only its chunks say it. */
  #whole = null
  /** Where the next chunk of a chunked body begins; null for any other body. */
  #chunk = null
  #isLast = false
  #patience = null

  constructor(options) {
    this.#options = options
  }

  get isBusy() {
    return this.#request !== null
  }

  /** Sends a request, on the kept connection if there is one. */
  send(request) {
    this.#request = request
    this.#patience = setTimeout(() => this.#fail('no answer in time'), PATIENCE_MS)
    if (this.#socket === null) this.#open()
    else if (this.#isOpen) this.#write()
  }

  close() {
    clearTimeout(this.#patience)
    this.#socket?.destroy()
    this.#socket = null
  }

  #open() {
    const { host, port, onConnect = () => {} } = this.#options
    const socket = connect({ host, port, noDelay: true })
    this.#socket = socket
    this.#isOpen = false
    let fault = null
    socket.on('connect', () => {
      this.#isOpen = true
      onConnect()
      if (this.#request !== null) this.#write()
    })
    socket.on('data', (chunk) => {
      if (this.#socket === socket) this.#read(chunk)
    })
    socket.on('error', (error) => (fault = error.code ?? error.message))
    socket.on('close', () => {
      if (this.#socket !== socket) return
      this.#socket = null
      if (this.#request === null) return
      if (!this.#isOpen) this.#fail(fault ?? 'closed', 'not connected')
      else this.#fail(`${fault ?? 'closed'} ${this.#bytes === 0 ? 'before' : 'within'} the answer`)
    })
  }

  #write() {
    this.#socket.write(this.#request.bytes)
  }

  #read(chunk) {
    if (this.#request === null) {
      this.#options.onFailure('an answer that nobody asked for')
      this.close()
      return
    }
    this.#buffer.push(chunk)
    this.#bytes += chunk.length
    if (this.#chunk !== null) this.#readChunks()
    else if (this.#whole === null) this.#readHead()
    if (this.#whole !== null && this.#bytes >= this.#whole) this.#finish()
  }

  #readHead() {
    const text = Buffer.concat(this.#buffer).toString('latin1')
    const end = text.indexOf(HEAD_END)
    if (end < 0) return
    const head = text.slice(0, end)
    const status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#isLast = /\r\nconnection: *close/i.test(head)
    if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      this.#request.status = status
      this.#chunk = end + HEAD_END.length
      this.#readChunks()
      return
    }
    if (length === undefined) {
      this.#fail(`status ${status} without a length`)
      return
    }
    this.#request.status = status
    this.#whole = end + HEAD_END.length + Number(length)
  }

  #readChunks() {
    const bytes = Buffer.concat(this.#buffer)
    this.#buffer = [bytes]
    for (;;) {
      const line = bytes.indexOf('\r\n', this.#chunk)
      if (line < 0) return
      const size = Number.parseInt(bytes.toString('latin1', this.#chunk, line), 16)
      const next = line + LINE_END.length + size + LINE_END.length
      if (size === 0) {
        if (bytes.length >= next) this.#whole = next
        return
      }
      if (!(bytes.length >= next)) return
      this.#chunk = next
    }
  }

  #finish() {
    const request = this.#request
    const isExact = this.#bytes === this.#whole
    const wasLast = this.#isLast
    this.#reset()
    if (!isExact) this.#options.onFailure('more bytes than the answer has')
    if (wasLast || !isExact) this.close()
    if (request.status === 200) this.#options.onAnswer(request, wasLast)
    else this.#options.onFailure(`status ${request.status}`)
    this.#options.onFree(this)
  }

  #fail(kind, stage = 'connected') {
    this.#reset()
    this.close()
    this.#options.onFailure(kind, stage)
    this.#options.onFree(this)
  }

  #reset() {
    clearTimeout(this.#patience)
    this.#request = null
    this.#buffer = []
    this.#bytes = 0
    this.#whole = null
    this.#chunk = null
    this.#isLast = false
  }
}

/**
 * Asks for `paths` in turn, `rate` times a second over `connections` kept connections, until `stop` is
 * called. A request whose time has come waits for a connection that is free, and its time runs.
 */
export function startLoad({ host = '127.0.0.1', port, paths, headers = [], rate, connections = 32 }) {
  const lines = ['Host: fleet', ...headers].map((line) => `\r\n${line}`).join('')
  const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1${lines}${HEAD_END}`))
  const result = { sent: 0, answered: 0, closing: 0, failed: 0, refused: 0, kinds: {}, milliseconds: [] }
  const waiting = []
  let onIdle = null
  const done = () => {
    if (onIdle !== null && waiting.length === 0 && all.every(({ isBusy }) => !isBusy)) onIdle()
  }
  const options = {
    host,
    port,
    onAnswer({ due }, wasLast) {
      result.answered++
      if (wasLast) result.closing++
      result.milliseconds.push(performance.now() - due)
    },
    onFailure(kind, stage) {
      if (stage === 'not connected') result.refused++
      result.failed++
      const known = kind in result.kinds || Object.keys(result.kinds).length < MOST_KINDS
      const name = known ? kind : 'other'
      result.kinds[name] = (result.kinds[name] ?? 0) + 1
    },
    onFree(connection) {
      if (waiting.length > 0) connection.send(waiting.shift())
      else free.push(connection)
      done()
    },
  }
  const all = Array.from({ length: connections }, () => new Connection(options))
  const free = [...all]
  const began = performance.now()
  const tick = setInterval(() => {
    const now = performance.now()
    for (; result.sent < ((now - began) * rate) / MILLISECONDS; result.sent++) {
      const due = began + (result.sent / rate) * MILLISECONDS
      const request = { bytes: requests[result.sent % requests.length], due, status: 0 }
      // Kept connections are used in turn, so that none is idle for long.
      const connection = free.shift()
      if (connection === undefined) waiting.push(request)
      else connection.send(request)
    }
  }, TICK_MS)
  return {
    /** What there is so far. */
    result,
    /** Sends no more. */
    end() {
      clearInterval(tick)
    },
    /** Sends no more, waits for what is under way, and resolves to the whole. */
    async stop() {
      clearInterval(tick)
      await new Promise((resolve) => {
        onIdle = resolve
        done()
      })
      for (const connection of all) connection.close()
      return { ...result, seconds: (performance.now() - began) / MILLISECONDS }
    },
  }
}

/** The value below which the share `part` of `values` lies. */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
