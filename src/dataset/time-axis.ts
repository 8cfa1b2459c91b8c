/** Times of half-hours as JSON, rendered once: most readings' times are copied from them. */
import { DAY, MINUTE } from '../sea/time.ts'
import type { JsonWriter } from './json-writer.ts'

const STEP_SECONDS = 30 * MINUTE
const AXIS_SECONDS = 7 * DAY
const PLACES = AXIS_SECONDS / STEP_SECONDS + 1
/** `"2026-03-27T09:00:00Z",` */
const PLACE_BYTES = 23
/** Fewer places are not worth a copy. */
const LEAST_COPIED = 8
/** Times off the axis that are written before the next one on it is looked for. */
const WRITTEN_AT_ONCE = 32

/** Position of the axis in a writer's kept bytes, and its first time, epoch seconds. */
export interface TimeAxis {
  readonly at: number
  readonly first: number
}

export function renderTimeAxis(writer: JsonWriter, asOf: number): TimeAxis {
  const first = Math.max(0, Math.floor(asOf / STEP_SECONDS) * STEP_SECONDS - AXIS_SECONDS)
  const { at } = writer
  writer.ensure(PLACES * PLACE_BYTES)
  for (let place = 0; place < PLACES; place++) {
    writer.timestamp(first + place * STEP_SECONDS)
    writer.comma()
  }
  return { at, first }
}

/** Writes times as `writer.timestamps` does, copied where they follow each other on the axis. */
export function writeTimes(
  writer: JsonWriter,
  { at, first }: TimeAxis,
  times: Uint32Array,
  from: number,
  to: number,
): void {
  let row = from
  while (row < to) {
    const place = (times[row] - first) / STEP_SECONDS
    const end = row + evenly(times, row, to, place)
    if (end - row >= LEAST_COPIED) {
      writer.copy(at + place * PLACE_BYTES, at + (place + end - row) * PLACE_BYTES)
      row = end
    } else {
      const next = Math.min(to, row + WRITTEN_AT_ONCE)
      writer.timestamps(times, row, next)
      row = next
    }
  }
}

/** How many times from `row` on follow each other on the axis from `place`; 0 off the axis. */
function evenly(times: Uint32Array, row: number, to: number, place: number): number {
  if (place < 0 || place >= PLACES || place !== Math.floor(place)) return 0
  const most = Math.min(to, row + PLACES - place)
  let expected = times[row]
  let next = row
  while (next < most && times[next] === expected) {
    next++
    expected += STEP_SECONDS
  }
  return next - row
}
