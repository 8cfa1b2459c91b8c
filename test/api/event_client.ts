/** A client of `GET /events` for tests: it reads one stream, or does not. */
import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { until } from '../until.ts'

export interface Counts {
  added: number
  changed: number
  removed: number
}

export interface EventData {
  snapshot: string
  as_of: string
  since: string | null
  changes: { buoys: Counts; readings: Counts; passes: boolean; forecast: boolean } | null
  ids?: number[] | null
}

export class EventClient {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  text = ''
  /** Whether the stream is over, and whether its end was said. */
  isOver = false
  isWhole = false
  readonly #answer: IncomingMessage

  constructor(answer: IncomingMessage) {
    this.#answer = answer
    this.status = answer.statusCode ?? 0
    this.headers = answer.headers
    answer.setEncoding('utf8')
    answer.on('data', (text: string) => (this.text += text))
    answer.on('error', () => {})
    answer.once('close', () => {
      this.isOver = true
      this.isWhole = answer.complete
    })
  }

  /** `url` with the base path. Resolves when the head of the answer is there. */
  static open(
    url: string,
    key: string | null,
    headers: { [name: string]: string } = {},
    method = 'GET',
  ): Promise<EventClient> {
    return new Promise((resolve, reject) => {
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` }
      const call = request(
        url,
        { agent: false, method, headers: { ...authorization, ...headers } },
        (answer) => resolve(new EventClient(answer)),
      )
      call.once('error', reject)
      call.end()
    })
  }

  /** What has come so far, without comments. */
  get events(): EventData[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .filter((block) => block.startsWith('event: '))
      .map((block) => {
        const [name, id, data, ...rest] = block.split('\n')
        assert.deepEqual([name, rest], ['event: snapshot', []])
        const event = JSON.parse(data.slice('data: '.length)) as EventData
        assert.equal(id, `id: ${event.snapshot}`)
        return event
      })
  }

  /** Resolves when `count` events have come. */
  async hasHeard(count: number): Promise<EventData[]> {
    await until(
      () => this.events.length >= count,
      () => `${count} events are expected, and these have come: ${this.text}`,
    )
    return this.events
  }

  ended(): Promise<void> {
    return until(
      () => this.isOver,
      () => `the stream goes on: ${this.text}`,
    )
  }

  pause(): void {
    this.#answer.pause()
  }

  resume(): void {
    this.#answer.resume()
  }

  close(): void {
    this.#answer.destroy()
  }
}
