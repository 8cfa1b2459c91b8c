/**
 * An assistant for tests: the client of the SDK, which starts `groundswell mcp` and speaks over its pipes.
 */
import type { TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { build, fakeSource, folderOf, NETWORKS, northBuoy, type FakeRow } from '../builder/fake_source.ts'
import type { Sink, Source } from '../../src/sources/source.ts'
import { SpectraBatch } from '../../src/sea/spectra-batch.ts'
import { BARE, CLI } from '../started_program.ts'

interface Told {
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
    const env = { ...BARE, ...(key !== null && { GROUNDSWELL_KEY: key }) }
    const args = [CLI, 'mcp', '--url', url]
    this.#transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
    this.#transport.stderr?.on('data', (chunk: Buffer) => (this.log += chunk.toString()))
    t.after(() => this.client.close())
  }

  async start(): Promise<this> {
    await this.client.connect(this.#transport)
    return this
  }

  async call(name: string, args: { [name: string]: unknown }, signal?: AbortSignal): Promise<Told> {
    const request = { name, arguments: args }
    const answer = await this.client.callTool(request, signal === undefined ? {} : { signal })
    const [{ text }] = answer.content as { text: string }[]
    const size = text.length + JSON.stringify(answer.structuredContent ?? null).length
    return { isError: answer.isError === true, text, data: answer.structuredContent, size }
  }
}

const DAY = 86_400
/** The newest half hour. */
export const END = Math.floor(Date.now() / 1_800_000) * 1800

/** Half-hourly rows of `days`, the oldest first. Some have no maximum, and directions swing around north. */
export const rowsOf = (days: number): FakeRow[] =>
  Array.from({ length: days * 48 }, (_, i) => ({
    time: END - (days * 48 - 1 - i) * 1800,
    significantHeight: 1000 + (i % 7) * 100,
    ...(i % 5 !== 0 && { maximumHeight: 2000 + (i % 11) * 100 }),
    direction: i % 2 === 0 ? 35_000 : 1200,
  }))

/**
 * Gives the first buoy the spectrum of a swell of 12.5 s from the west and a wind sea of 4 s from the north.
 */
function withSpectrum(sink: Sink): Sink {
  const batch = new SpectraBatch({
    frequency: Float64Array.of(0.08, 0.15, 0.25),
    bandwidth: Float64Array.of(0.01, 0.05, 0.05),
  })
  const directions = { direction: [270, 300, 0], r1: [0.9, 0.5, 0.7] }
  batch.add(END - 600, { density: [25, 0.1, 1.25], ...directions })
  return {
    ...sink,
    source: (info) => sink.source(info),
    rows: (buoy, rows, feed) => sink.rows(buoy, rows, feed),
    buoy(record) {
      const handle = sink.buoy(record)
      if (record.identifier === 'A1') sink.spectra(handle, batch.taken())
      return handle
    },
  }
}

/** A snapshot of a buoy with these rows and one of each of two years before, and of a buoy without any. */
export async function assistantWorld(t: TestContext, rows: readonly FakeRow[]): Promise<string> {
  const dir = folderOf(t)
  const earlier = [2, 1].map((years) => ({
    ...rows[0],
    time: rows[0].time - years * 365 * DAY,
    significantHeight: years * 1000,
  }))
  const buoys = [
    northBuoy('A1', [...earlier, ...rows], { name: 'Cap Ferret', lat: 44.65, lng: -1.45 }),
    northBuoy('B2', [], { name: 'Silent Cape', lat: 44.9, lng: -1.5 }),
  ]
  const source = fakeSource(buoys, [{ ...NETWORKS[0], credit: 'North,\u2028made up' }])
  const harbour = {
    identifier: 'arc',
    name: 'Arcachon',
    lat: 44.66,
    lng: -1.16,
    datumOffset: 2.4,
    credit: 'tides, made up',
    constituents: [
      { name: 'M2', amplitude: 1.3, phase: 110 },
      { name: 'S2', amplitude: 0.45, phase: 145 },
    ],
  }
  const read: Source['read'] = async (sink, context) => {
    await source.read(withSpectrum(sink), context)
    sink.harbour(harbour)
  }
  await build([{ read }], dir)
  return dir
}
