/**
 * JSON bytes that several operations share, rendered once (`render-fragments.ts`). Each thread copies
 * from its own: V8 copies within one thread's buffer five times as fast as from a shared one.
 */
import type { Found } from '../index/near.ts'
import type { Language } from '../sea/languages.ts'
import type { Steps } from '../system/steps.ts'
import { JsonWriter } from './json-writer.ts'
import { Literal } from './literals.ts'
import type { TimeAxis } from './time-axis.ts'

const END = new Literal('}')

/** Pieces of JSON inside a writer's kept bytes, one per ordinal, each after a comma. */
export class Fragments {
  readonly #writer: JsonWriter
  readonly #start: Uint32Array

  /** Piece `i` is from `start[i]` to before `start[i + 1]`. */
  constructor(writer: JsonWriter, start: Uint32Array) {
    this.#writer = writer
    this.#start = start
  }

  /** One piece, without its comma. */
  write(ordinal: number): void {
    this.#writer.copy(this.#start[ordinal] + 1, this.#start[ordinal + 1])
  }

  writeTo(writer: JsonWriter, ordinal: number): void {
    writer.take(this.#writer.bytes.subarray(this.#start[ordinal] + 1, this.#start[ordinal + 1]))
  }

  /** One piece with its comma, to follow another one. */
  writeNext(ordinal: number): void {
    this.#writer.copy(this.#start[ordinal], this.#start[ordinal + 1])
  }

  /** The pieces of `ordinals[from]` to `ordinals[to - 1]`. Runs of neighbours are copied in one go. */
  writeList(ordinals: ArrayLike<number>, from: number, to: number): void {
    for (let i = from; i < to;) {
      const first = ordinals[i]
      let last = first
      for (i++; i < to && ordinals[i] === last + 1; i++) last++
      const start = this.#start[first]
      this.#writer.copy(i - (last - first + 1) === from ? start + 1 : start, this.#start[last + 1])
    }
  }
}

export interface Range {
  readonly from: number
  readonly to: number
}

interface FragmentLists<Of> {
  /** `GET /buoys` items. */
  readonly list: Of
  /** `GET /buoys/{buoy_id}` objects. */
  readonly detail: Of
  /** `GET /buoys/search` items. */
  readonly search: Of
  /** `GET /buoys/nearest` items up to the number of `distance_km`, the last member: one copy each. */
  readonly nearest: Of
  /** `GET /buoys/last_readings` items. */
  readonly lastReading: Of
  /** `GET /buoys/map` items. */
  readonly map: Of
  /** The buoy of `readings`, of `chart` and `series`, and of one reading. */
  readonly summary: Of
  readonly identifiedSummary: Of
  readonly idAndName: Of
  /** `GET /buoys/satellite_passes` items, by row. */
  readonly pass: Of
  /** Names of harbours, and credits, as JSON texts; none where the snapshot has no tides. */
  readonly harbour: Of
  readonly tideSource: Of
}

interface FragmentRanges {
  /** The data of `GET /buoys/satellites`. */
  readonly satellites: { readonly [language in Language]: Range }
  /** The data of `GET /countries`. */
  readonly countries: Range
  /** `decimals` of `GET /buoys/map`. */
  readonly decimals: Range
  readonly timeAxis: TimeAxis
}

export interface IndexedFragments extends FragmentRanges {
  readonly bytes: Uint8Array
  /** Where the pieces of each list begin, and where the last one ends. */
  readonly lists: FragmentLists<Uint32Array>
}

export interface OpenedFragments extends FragmentLists<Fragments>, FragmentRanges {
  readonly writer: JsonWriter
}

/** Room after the fragments and the map: a longer answer would make the writer twice as large. */
const ANSWER_BYTES = 256 * 1024
/** Bytes that are copied in one step of some 50 µs. */
const COPIED_BYTES = 128 * 1024

/** Copies fragments to where this thread writes answers. */
export function* openFragments({ bytes, lists, ...ranges }: IndexedFragments): Steps<OpenedFragments> {
  const mapBytes = lists.map[lists.map.length - 1] - lists.map[0]
  const writer = new JsonWriter(bytes.length + mapBytes + ANSWER_BYTES)
  for (let at = 0; at < bytes.length; at += COPIED_BYTES) {
    writer.take(bytes.subarray(at, at + COPIED_BYTES))
    yield
  }
  writer.mark()
  const opened = Object.entries(lists as FragmentLists<Uint32Array> & { [name: string]: Uint32Array }).map(
    ([name, start]) => [name, new Fragments(writer, start)],
  )
  return { writer, ...(Object.fromEntries(opened) as FragmentLists<Fragments>), ...ranges }
}

/** Bytes: more than the distance of an item takes. */
const DISTANCE_BYTES = 24

export function writeNearest({ writer, nearest }: OpenedFragments, found: readonly Found[]): void {
  found.forEach(({ ordinal, km }, i) => {
    if (i === 0) nearest.write(ordinal)
    else nearest.writeNext(ordinal)
    writer.ensure(DISTANCE_BYTES)
    writer.hundredths(Math.round(100 * km))
    writer.literal(END)
  })
}
