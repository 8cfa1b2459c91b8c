/** An assistant for tests: the client of the SDK, which starts `groundswell mcp` and speaks over its pipes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { temporaryFolder } from '../live.ts'

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface Told {
  isError: boolean
  text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each tool has a shape of its own
  data: any
  /** Characters of text and data. */
  size: number
}

export class Assistant {
  readonly client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  readonly #transport: StdioClientTransport
  /** What the program has written to standard error. */
  log = ''

  constructor(t: TestContext, url: string, key: string | null) {
    const env = { PATH: process.env['PATH'] ?? '', ...(key === null ? {} : { GROUNDSWELL_KEY: key }) }
    const args = [CLI, 'mcp', '--url', url]
    this.#transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
    this.#transport.stderr?.on('data', (chunk: Buffer) => (this.log += chunk.toString()))
    t.after(() => this.client.close())
  }

  async start(): Promise<this> {
    await this.client.connect(this.#transport)
    return this
  }

  /** Memory of the program. */
  residentKib(): number {
    const status = readFileSync(`/proc/${this.#transport.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1])
  }

  async call(name: string, args: { [name: string]: unknown }, signal?: AbortSignal): Promise<Told> {
    const options = signal === undefined ? {} : { signal }
    const { content, structuredContent, isError } = await this.client.callTool(
      { name, arguments: args },
      options,
    )
    const [{ text }] = content as { text: string }[]
    const size = text.length + JSON.stringify(structuredContent ?? null).length
    return { isError: isError === true, text, data: structuredContent, size }
  }
}

export interface Sample {
  time: number
  height: number
  /** Null where it was not measured. */
  maximum: number | null
  direction: number
}

const HALF_HOUR = 1800
const DAY = 86_400

/** Half-hourly samples of `days` up to a half hour, the oldest first; directions swing around north. */
export function samplesUpTo(end: number, days: number): Sample[] {
  return Array.from({ length: days * 48 }, (_, i) => ({
    time: end - (days * 48 - 1 - i) * HALF_HOUR,
    height: 1 + (i % 7) / 10,
    maximum: i % 5 === 0 ? null : 2 + (i % 11) / 10,
    direction: i % 2 === 0 ? 350 : 12,
  }))
}

/** Sources of a buoy with these samples and a day of each of two years before, and of one without readings. */
export function assistantWorld(t: TestContext, samples: readonly Sample[]): string[] {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'readings'))
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  write('sources.csv', [
    'name,network,credit,licence',
    'Northwatch,national,"Northwatch,\u2028made up",CC0-1.0',
  ])
  write('buoys.csv', [
    'source,identifier,name,lat,lng,country',
    'Northwatch,A1,Cap Ferret,44.65,-1.45,FR',
    'Northwatch,B2,Silent Cape,44.9,-1.5,FR',
  ])
  const earlier = [1, 2].map((years) => ({
    ...samples[0],
    time: samples[0].time - years * 365 * DAY,
    height: years,
  }))
  write('readings/a.csv', [
    'source,identifier,time,significant_height,maximum_height,direction',
    ...[...earlier, ...samples].map(({ time, height, maximum, direction }) =>
      ['Northwatch', 'A1', new Date(time * 1000).toISOString(), height, maximum ?? '', direction].join(),
    ),
  ])
  return ['--source', `csv:${folder}`]
}
