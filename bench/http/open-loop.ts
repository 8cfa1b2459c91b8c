/**
 * A client of thousands of kept connections in an open loop: requests become due at random moments of a
 * constant mean rate, whether or not earlier ones are answered, and a latency counts from the moment when its
 * request was due. Several processes share a rate. Each says how late it was itself: beyond some tenths of a
 * millisecond it measured itself and not the server.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { AnswerReader } from './raw.ts'
import { seededRandom } from './statistics.ts'

/** A request as it is sent, and what may come back. */
export interface OpenRequest {
  /** Head of the request, with its empty line. */
  text: string
  /** Index of the kind that its latency counts for. */
  kind: number
  statuses: readonly number[]
}

export interface OpenLoad {
  port: number
  /** JSON: an array of `OpenRequest`, sent in this order, again from its beginning after its end. */
  file: string
  /** Requests a second, of all processes together. */
  rate: number
  seconds: number
  /** Kept connections, of all processes together. */
  connections: number
  processes: number
  /** Cores of the processes, as `taskset -c` takes them; those of this process where it is left out. */
  cores?: string
  /** Speaks TLS, and takes any certificate. */
  isSecure?: boolean
  /** Any answer is right: the ceiling gives them in an order of its own. */
  anyStatus?: boolean
  seed?: number
}

export interface OpenSample {
  /** Latencies in ms by kind, each in ascending order. */
  latencies: readonly Float64Array[]
  /** Those of all kinds. */
  all: Float64Array
  /** Requests a second that were answered. */
  rate: number
  /** Requests without the answer that was due, and what came instead. */
  failed: number
  failures: readonly string[]
  /** Bytes of heads and bodies. */
  bytes: number
  /** Answers by status. */
  statuses: { readonly [status: string]: number }
  /** Connections opened after the first ones. */
  reconnected: number
  /** Share of the time in which the busiest process had something to do. */
  busy: number
  /** ms from the moment when a request was due to the one when a process turned to it, p99. */
  lag: number
}

interface Begin extends OpenLoad {
  /** Of the processes. */
  index: number
}

interface Report {
  latencies: Float64Array[]
  lags: Float64Array
  seconds: number
  failed: number
  failures: string[]
  bytes: number
  statuses: { [status: string]: number }
  reconnected: number
  busy: number
}

const FILE = fileURLToPath(import.meta.url)
/** After the last request became due. */
const LAST_ANSWERS_MS = 10_000
const READ_BYTES = 512 * 1024
/** Of which the first are kept for the message. */
const FAILURES_KEPT = 5
/** Connections that a process opens at a time. */
const OPENING = 64
const SECOND_MS = 1000
/** No head is longer. */
const HEAD_BYTES = 2048

/** Opens all connections. `run` begins to ask, and may be called once. */
export async function openClients(
  load: OpenLoad,
): Promise<{ run: () => Promise<OpenSample>; stop: () => void }> {
  const children: ChildProcess[] = []
  const stop = (): void => children.forEach((child) => void child.kill('SIGKILL'))
  const wrap = load.cores === undefined ? [] : ['taskset', '-c', load.cores]
  try {
    await Promise.all(
      Array.from({ length: load.processes }, async (_, index) => {
        const [execPath, ...execArgv] = [...wrap, process.execPath, '--import', 'tsx']
        const child = fork(FILE, { execPath, execArgv, serialization: 'advanced' })
        children.push(child)
        const opened = next(child)
        child.send({ ...load, index } satisfies Begin)
        await opened
      }),
    )
  } catch (error) {
    stop()
    throw error
  }
  return {
    stop,
    async run() {
      try {
        const reports = children.map((child) => {
          const report = next(child) as Promise<Report>
          child.send('go')
          return report
        })
        return together(await Promise.all(reports))
      } finally {
        stop()
      }
    },
  }
}

/** @throws Error with what the servers answered where one in a thousand requests failed */
export async function openLoop(load: OpenLoad): Promise<OpenSample> {
  const clients = await openClients(load)
  const sample = await clients.run()
  const asked = sample.latencies.reduce((sum, times) => sum + times.length, 0) + sample.failed
  if (sample.failed > asked / 1000) {
    throw new Error(`${sample.failed} of ${asked} requests failed: ${sample.failures.join('; ')}`)
  }
  return sample
}

/** The next message. @throws Error where the process ends without one */
function next(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`a client process ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      if (message instanceof Error) reject(message)
      else resolve(message)
    })
  })
}

function together(reports: readonly Report[]): OpenSample {
  const sum = (what: (report: Report) => number): number =>
    reports.reduce((total, report) => total + what(report), 0)
  const statuses: { [status: string]: number } = {}
  for (const report of reports) {
    for (const [status, count] of Object.entries(report.statuses)) {
      statuses[status] = (statuses[status] ?? 0) + count
    }
  }
  const lags = merged(reports.map((report) => report.lags))
  return {
    latencies: reports[0].latencies.map((_, kind) => merged(reports.map(({ latencies }) => latencies[kind]))),
    all: merged(reports.flatMap(({ latencies }) => latencies)),
    rate: sum(({ latencies, seconds }) => latencies.reduce((all, one) => all + one.length, 0) / seconds),
    failed: sum(({ failed }) => failed),
    failures: reports.flatMap(({ failures }) => failures).slice(0, FAILURES_KEPT),
    bytes: sum(({ bytes }) => bytes),
    statuses,
    reconnected: sum(({ reconnected }) => reconnected),
    busy: Math.max(...reports.map(({ busy }) => busy)),
    lag: lags.length === 0 ? 0 : lags[Math.ceil(0.99 * lags.length) - 1],
  }
}

/** All of them in ascending order. */
export function merged(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all.sort()
}

/** Numbers that are appended one by one. */
class Samples {
  #values = new Float64Array(4096)
  #length = 0

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(2 * this.#length)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = value
  }

  values(): Float64Array {
    return this.#values.slice(0, this.#length)
  }
}

/** All connections read into it, one after the other. */
const buffer = Buffer.allocUnsafe(READ_BYTES)

interface Client {
  socket: Socket
  isOpen: boolean
  /** What it waits for; null while it is idle. */
  request: OpenRequest | null
  due: number
  status: number
  /** Bytes of the body still to come; -1 until the head is read. */
  left: number
  /** A head that came in part. */
  head: string
  /** Reads a chunked answer. */
  reader: AnswerReader | null
}

/** One process's share of the load. */
class Asker {
  readonly #load: Begin
  readonly #requests: readonly OpenRequest[]
  readonly #idle: Client[] = []
  /** Requests that wait for a connection, and when they were due. */
  readonly #waiting: { request: OpenRequest; due: number }[] = []
  readonly #latencies: Samples[]
  readonly #lags = new Samples()
  readonly #random: () => number
  readonly #failures: string[] = []
  readonly #statuses: { [status: string]: number } = {}
  #isRunning = false
  #failed = 0
  #bytes = 0
  #opened = 0
  #unanswered = 0
  #events = 0

  constructor(load: Begin) {
    this.#load = load
    this.#requests = JSON.parse(readFileSync(load.file, 'utf8')) as OpenRequest[]
    const kinds = this.#requests.reduce((most, { kind }) => Math.max(most, kind), 0) + 1
    this.#latencies = Array.from({ length: kinds }, () => new Samples())
    this.#random = seededRandom((load.seed ?? 1) * 1000 + load.index + 1)
  }

  /** Opens the connections. @throws Error where one cannot be opened */
  async open(): Promise<void> {
    let left = Math.max(1, Math.round(this.#load.connections / this.#load.processes))
    const some = async (): Promise<void> => {
      while (left-- > 0) await new Promise<void>((resolve, reject) => this.#connect(resolve, reject))
    }
    await Promise.all(Array.from({ length: OPENING }, some))
  }

  /** Asks for as long as the load says, and waits for the last answers. */
  async run(): Promise<Report> {
    const { rate, processes, seconds, index } = this.#load
    const gap = (SECOND_MS * processes) / rate
    const opened = this.#opened
    this.#isRunning = true
    // Each process begins elsewhere in the list.
    let at = Math.floor((index * this.#requests.length) / processes)
    const began = performance.now()
    const end = began + seconds * SECOND_MS
    let due = began + this.#gap(gap)
    let idle = 0
    let now = began
    while (now < end || (this.#unanswered > 0 && now < end + LAST_ANSWERS_MS)) {
      const events = this.#events
      for (; due <= now && due < end; due += this.#gap(gap)) {
        this.#lags.push(now - due)
        this.#ask(this.#requests[at], due)
        at = at + 1 === this.#requests.length ? 0 : at + 1
      }
      // Timers are too coarse: it looks all the time, and counts the looks that found nothing.
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      const after = performance.now()
      if (this.#events === events && now < end) idle += after - now
      now = after
    }
    if (this.#unanswered > 0) this.#fail(`${this.#unanswered} without an answer`, this.#unanswered)
    return {
      latencies: this.#latencies.map((samples) => samples.values()),
      lags: this.#lags.values(),
      seconds,
      failed: this.#failed,
      failures: this.#failures,
      bytes: this.#bytes,
      statuses: this.#statuses,
      reconnected: this.#opened - opened,
      busy: 1 - idle / (seconds * SECOND_MS),
    }
  }

  /** Exponential: so requests of many independent clients come. */
  #gap(mean: number): number {
    return -Math.log(1 - this.#random()) * mean
  }

  #ask(request: OpenRequest, due: number): void {
    this.#events++
    this.#unanswered++
    // The one that was idle longest: the server ends those that nobody uses.
    const client = this.#idle.shift()
    if (client === undefined) this.#waiting.push({ request, due })
    else this.#send(client, request, due)
  }

  #send(client: Client, request: OpenRequest, due: number): void {
    client.request = request
    client.due = due
    client.left = -1
    client.socket.write(request.text, 'latin1')
  }

  #connect(opened?: () => void, failed?: (error: Error) => void): void {
    const { port, isSecure = false } = this.#load
    const client: Partial<Client> & Pick<Client, 'left' | 'head' | 'request'> = {
      isOpen: false,
      request: null,
      due: 0,
      status: 0,
      left: -1,
      head: '',
      reader: null,
    }
    const whole = client as Client
    const onData = (bytes: Buffer): void => this.#read(whole, bytes)
    if (isSecure) {
      client.socket = connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false })
      client.socket.on('data', onData)
    } else {
      client.socket = connectPlain({
        port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer,
          callback: (count) => {
            onData(buffer.subarray(0, count))
            return true
          },
        },
      })
    }
    const { socket } = client
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      whole.isOpen = true
      this.#opened++
      this.#events++
      this.#free(whole)
      opened?.()
    })
    let cause = 'the server closed the connection'
    socket.on('error', (error) => {
      cause = error.message
      failed?.(error)
    })
    socket.once('close', () => {
      this.#events++
      whole.isOpen = false
      if (whole.request !== null) {
        this.#unanswered--
        this.#fail(cause)
      }
      const at = this.#idle.indexOf(whole)
      if (at !== -1) this.#idle.splice(at, 1)
      if (this.#isRunning) this.#connect()
    })
  }

  #free(client: Client): void {
    client.request = null
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#idle.push(client)
    else this.#send(client, waiting.request, waiting.due)
  }

  #read(client: Client, bytes: Buffer): void {
    this.#events++
    this.#bytes += bytes.length
    if (client.reader !== null) {
      // It keeps pieces, and the buffer is for the next connection.
      client.reader.push(Buffer.from(bytes))
      return
    }
    if (client.left >= 0) {
      client.left -= bytes.length
      if (client.left <= 0) this.#answered(client)
      return
    }
    const text = client.head + bytes.toString('latin1', 0, Math.min(bytes.length, HEAD_BYTES))
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) {
      client.head = text
      return
    }
    client.status = Number(text.slice(9, 12))
    if (client.status !== 304 && /\r\ntransfer-encoding: *chunked/i.test(text.slice(0, end + 2))) {
      this.#readChunks(client, Buffer.concat([Buffer.from(client.head, 'latin1'), bytes]))
      return
    }
    const came = client.head.length + bytes.length - (end + 4)
    client.head = ''
    client.left = client.status === 304 ? 0 : lengthIn(text, end) - came
    if (client.left <= 0) this.#answered(client)
  }

  #readChunks(client: Client, bytes: Buffer): void {
    client.head = ''
    client.reader = new AnswerReader({
      keepBodies: false,
      onAnswer: () => {
        client.reader = null
        this.#answered(client)
      },
    })
    client.reader.asked(false)
    client.reader.push(bytes)
  }

  #answered(client: Client): void {
    const { request, status, due, socket } = client
    if (request === null) {
      this.#fail(`an answer ${status} that nobody asked for`)
      socket.destroy()
      return
    }
    this.#unanswered--
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (this.#load.anyStatus === true || request.statuses.includes(status))
      this.#latencies[request.kind].push(performance.now() - due)
    else this.#fail(`${status} to ${request.text.split('\r\n', 1)[0]}`)
    // The other side closes this one, and the next is opened in its place.
    if (request.text.includes('\r\nConnection: close')) client.request = null
    else this.#free(client)
  }

  #fail(what: string, count = 1): void {
    this.#failed += count
    if (this.#failures.length < FAILURES_KEPT) this.#failures.push(what)
  }
}

/** The length that a head gives; 0 where it gives none. */
function lengthIn(head: string, end: number): number {
  let at = head.indexOf('ontent-Length: ')
  if (at === -1 || at > end) at = head.indexOf('ontent-length: ')
  return at === -1 || at > end ? 0 : Number.parseInt(head.slice(at + 15, at + 27), 10)
}

if (process.argv[1] === FILE) {
  let asker: Asker | null = null
  process.on('message', (message: Begin | 'go') => {
    const said =
      message === 'go' ? asker!.run() : (asker = new Asker(message)).open().then(() => 'open' as const)
    said.then(
      (value) => process.send!(value),
      (error: Error) => process.send!(error),
    )
  })
  process.on('disconnect', () => process.exit(0))
}
