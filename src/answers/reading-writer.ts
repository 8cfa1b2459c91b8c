/**
 * Readings as JSON, by code of WebAssembly that copies 16 bytes at a time and makes numbers of small tables
 * (`reading-writer.wat`): 100 readings take 3.1 µs, where stores of eight bytes from JavaScript take 7.0,
 * with a table of 64 K words for each kind of number. What lies where in its memory,
 * `reading-writer-layout.ts` says.
 */
import { type MonthRows } from '../index/segments.ts'
import { type JsonWriter } from './json.ts'
import { ENERGY_FACTOR } from './energy.ts'
import { COMPASS_TEXT } from './number-tables.ts'
import { padded } from './literals.ts'
import { CODE } from './reading-writer-code.ts'
import { LAYOUT } from './reading-writer-layout.ts'
import { WASM } from '../system/wasm.ts'

/** Readings that a call writes: a page. */
const MOST_ROWS = 100
const OUTPUT_AT = LAYOUT.OUTPUT

const LITERALS: readonly (readonly [at: number, text: string])[] = [
  [LAYOUT.UUID, ',"uuid":"0000'],
  [LAYOUT.MAXIMUM_HEIGHT, ',"maximum_height'],
  [LAYOUT.PERIOD, ',"period":'],
  [LAYOUT.TIME, ',"time":'],
  [LAYOUT.WATER_TEMPERATURE, 'Z","water_temperature":'],
  [LAYOUT.DIRECTION, ',"direction":'],
  [LAYOUT.DIRECTION_COMPASS, ',"direction_compass":'],
  [LAYOUT.ENERGY, ',"unit":"m","energy_per_wave":'],
  [LAYOUT.LOW_HALVES, '\x0f'.repeat(16)],
  // Where a byte of a time's hexadecimal digits is the upper half.
  [LAYOUT.IS_HIGH_HALF, '\xff\0\xff\0\0\xff\0\xff'],
  [LAYOUT.HEX_DIGITS, '0123456789abcdef'],
]

type Write = (count: number, headLength: number, end: number) => number

const memory = new WASM.Memory({ initial: 1, maximum: 1 })
const bytes = new Uint8Array(memory.buffer)
const times = new Uint32Array(memory.buffer, LAYOUT.TIMES, MOST_ROWS)
const heights = new Uint16Array(memory.buffer, LAYOUT.HEIGHTS, MOST_ROWS)
const maximums = new Uint16Array(memory.buffer, LAYOUT.MAXIMUMS, MOST_ROWS)
const periods = new Uint16Array(memory.buffer, LAYOUT.PERIODS, MOST_ROWS)
const temperatures = new Uint16Array(memory.buffer, LAYOUT.TEMPERATURES, MOST_ROWS)
const directions = new Uint16Array(memory.buffer, LAYOUT.DIRECTIONS, MOST_ROWS)

for (let n = 0; n < 100; n++) put(LAYOUT.TWO_DIGITS + n * 2, padded(n, 2))
for (let n = 0; n < 1000; n++) {
  put(LAYOUT.WHOLE_NUMBERS + n * 4, String(n))
  bytes[LAYOUT.WHOLE_NUMBERS + n * 4 + 3] = String(n).length
  put(LAYOUT.THREE_DIGITS + n * 4, `.${padded(n, 3)}`)
  bytes[LAYOUT.THREE_DIGITS_LENGTHS + n] = String(n / 1000).length - 1
}
bytes.set(new Uint8Array(COMPASS_TEXT.words.buffer), LAYOUT.COMPASS)
bytes.set(COMPASS_TEXT.lengths, LAYOUT.COMPASS_LENGTHS)
for (const [at, text] of LITERALS) put(at, text)
const { write } = new WASM.Instance(new WASM.Module(Buffer.from(CODE, 'base64')), {
  readings: { memory, energyFactor: ENERGY_FACTOR },
}).exports as { write: Write }

function put(at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
}

/** `},` and `}` with the end of a line. */
const LIST_END = 0x2c7d
const LINE_END = 0x0a7d

let preparedBuoy = -1
let headLength = 0

/**
 * Lays out what the readings of a buoy share: `{"id":6`, and from the end of the uuid to the first number.
 */
function prepare(buoyId: number): void {
  const head = `{"id":${buoyId}`
  put(LAYOUT.HEAD, head)
  put(LAYOUT.TAIL, `-8000-8000-${buoyId.toString(16).padStart(12, '0')}","significient_height":`)
  headLength = head.length
  preparedBuoy = buoyId
}

/**
 * Writes `count` full Readings of one buoy from `row` on, `step` (1 or −1) rows apart, each followed by a
 * comma, or by the end of its line.
 */
export function writeReadings(
  out: JsonWriter,
  buoyId: number,
  { time, measures }: MonthRows,
  row: number,
  step: number,
  count: number,
  asLines = false,
): void {
  if (buoyId !== preparedBuoy) prepare(buoyId)
  const { significantHeight, maximumHeight, period, waterTemperature, direction } = measures
  const [height, heightMask] = [significantHeight.codes, significantHeight.mask]
  const [maximum, maximumMask] = [maximumHeight.codes, maximumHeight.mask]
  const [seconds, secondsMask] = [period.codes, period.mask]
  const [temperature, temperatureMask] = [waterTemperature.codes, waterTemperature.mask]
  const [from, fromMask] = [direction.codes, direction.mask]
  const end = asLines ? LINE_END : LIST_END
  for (let left = count; left > 0; left -= MOST_ROWS) {
    const rows = Math.min(left, MOST_ROWS)
    for (let i = 0; i < rows; i++) {
      times[i] = time[row]
      heights[i] = height[row & heightMask]
      maximums[i] = maximum[row & maximumMask]
      periods[i] = seconds[row & secondsMask]
      temperatures[i] = temperature[row & temperatureMask]
      directions[i] = from[row & fromMask]
      row += step
    }
    out.take(bytes.subarray(OUTPUT_AT, write(rows, headLength, end)))
  }
}
