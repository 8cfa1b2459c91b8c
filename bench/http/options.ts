/** The options of the bench and what follows from them. */
import { parseArgs } from 'node:util'
import { SCALES, type ScaleName } from './data.ts'
import { TOGETHER_SECTIONS } from './together.ts'

export const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string', default: 'demo' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    /** Compiled command line to measure; the sources are compiled when it is left out. */
    cli: { type: 'string' },
    'no-peers': { type: 'boolean', default: false },
    'no-proxies': { type: 'boolean', default: false },
    /** Seconds between two swaps in the mixture. */
    'swap-every': { type: 'string' },
    /** Kept connections of the mixture, and processes that ask over them: on one core two would take turns. */
    connections: { type: 'string' },
    clients: { type: 'string', default: '1' },
    /** Requests a second where latencies are taken, in place of a share of the capacity. */
    rate: { type: 'string' },
    /** Of the table: some of cold, hot, gzip. */
    modes: { type: 'string', default: 'cold,hot,gzip' },
    /** Revision of the product that is measured, too. */
    before: { type: 'string' },
  },
})

/** Those that ask for one operation after the other. */
export const OPERATION_SECTIONS = ['check', 'table', 'latency', 'scaling', 'pauses', 'flood'] as const
const SECTIONS = [...OPERATION_SECTIONS, ...TOGETHER_SECTIONS] as const
const unknown = positionals.find((name) => !SECTIONS.some((section) => section === name))
if (unknown !== undefined) throw new Error(`no section ${unknown}; there are ${SECTIONS.join(', ')}`)
if (!Object.hasOwn(SCALES, options.data)) throw new Error(`--data: ${Object.keys(SCALES).join(' or ')}`)
export const scale = options.data as ScaleName
export const wants = (section: (typeof SECTIONS)[number]): boolean =>
  positionals.length === 0 || positionals.includes(section)
export const ROUNDS = Number(options.rounds ?? (options.quick ? 1 : 5))
export const SECONDS = Number(options.seconds)
/** Requests drawn for a cold list: all over the data, more than any cache of the processor holds answers. */
export const COLD = options.quick ? 4096 : 16_384
/** Distinct requests of a hot list, and how many are drawn of them. */
export const HOT_DISTINCT = options.quick ? 1000 : 10_000
export const HOT_DRAWN = options.quick ? 8192 : 65_536
/** The hot server may keep all of them: what is measured is an answer that is ready. */
export const HOT_CACHE = 512
/** Requests of a list that are checked: all, or for a quick look few, and of few buoys. */
export const CHECKED = options.quick ? 40 : Infinity
export const CHECKED_BUOYS = options.quick ? (scale === 'big' ? 3 : 40) : Infinity

/** A look whether it runs does not depend on what the machine can do: so many requests a second. */
const QUICK_RATE = 100
const quickOr = (quick: number, full: number): number => (options.quick ? quick : full)
/** Of the sections in which all is asked together. */
export const TOGETHER = {
  drawn: quickOr(500, 65_536),
  rounds: options.rounds === undefined ? Math.min(ROUNDS, 3) : ROUNDS,
  swapSeconds: Number(options['swap-every'] ?? quickOr(1, 30)),
  feltSeconds: quickOr(2, 10),
  connections: Number(options.connections ?? quickOr(100, 4000)),
  processes: Number(options.clients),
  proxies: !options['no-proxies'],
  rate: options.rate !== undefined ? Number(options.rate) : options.quick ? QUICK_RATE : null,
}

/** Of the table. */
export const MODES: ReadonlySet<string> = new Set(options.modes.split(','))
for (const mode of MODES) {
  if (!['cold', 'hot', 'gzip'].includes(mode)) throw new Error(`--modes: some of cold,hot,gzip; not ${mode}`)
}

export const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** What a client sends to be answered from the cache. */
export const HOT_MODES = (
  [
    ['hot', []],
    ['hot gzip', ['Accept-Encoding: gzip']],
  ] as const satisfies readonly (readonly [HotMode, readonly string[]])[]
).filter(([mode]) => MODES.has(mode === 'hot' ? 'hot' : 'gzip'))
export type HotMode = 'hot' | 'hot gzip'
