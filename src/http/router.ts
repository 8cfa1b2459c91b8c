/** Finds the operation of a path. */
import type { Declared, Operation, StreamOperation } from '../operation/operation.ts'
import type { QueryReader } from '../operation/query.ts'

interface TargetOf<O extends Declared> {
  readonly operation: O
  /** Ordinal of the operation. */
  readonly index: number
  readonly reader: QueryReader<O['parameters']>
  /** Names that `X-Ignored-Parameters` may have. */
  readonly ignorable: ReadonlySet<string>
  /** By ordinal of a parameter: the one without which it is ignored and named there, too. */
  readonly needed: readonly (string | undefined)[]
}

export type Target = TargetOf<Operation>
export type StreamTarget = TargetOf<StreamOperation>

export function isStream(target: Target | StreamTarget): target is StreamTarget {
  return 'buoys' in target.operation
}

export interface Route<T> {
  readonly target: T
  /** Decoded arguments, in order. */
  readonly path: readonly string[]
}

/** A segment that is none of the words is an argument. */
interface Step<T> {
  readonly words: { readonly word: string; readonly next: Step<T> }[]
  argument: Step<T> | null
  target: T | null
}

const newStep = <T>(): Step<T> => ({ words: [], argument: null, target: null })

/**
 * Words beat arguments (`/buoys/search` is not a buoy). An argument that is not percent-encoded UTF-8 or
 * holds a control character belongs to no resource.
 */
export class Router<T> {
  readonly #base: string
  readonly #first = newStep<T>()

  /** `base` as in `/v2`, without a slash at its end. */
  constructor(base: string, targets: readonly { path: string; target: T }[]) {
    this.#base = `${base}/`
    for (const { path, target } of targets) {
      let step = this.#first
      for (const segment of path.split('/').slice(1)) step = stepOf(step, segment)
      step.target = target
    }
  }

  find(path: string): Route<T> | null {
    if (!path.startsWith(this.#base)) return null
    const args: string[] = []
    const target = match(this.#first, path, this.#base.length, args)
    return target === null ? null : { target, path: args }
  }
}

function stepOf<T>(from: Step<T>, segment: string): Step<T> {
  if (segment.startsWith('{')) return (from.argument ??= newStep())
  let next = from.words.find(({ word }) => word === segment)?.next
  if (next === undefined) from.words.push({ word: segment, next: (next = newStep()) })
  return next
}

/** `from`: where the next segment begins; there is none after the path's end. */
function match<T>(step: Step<T>, path: string, from: number, args: string[]): T | null {
  if (from > path.length) return step.target
  const slash = path.indexOf('/', from)
  const to = slash === -1 ? path.length : slash
  for (const { word, next } of step.words) {
    if (word.length !== to - from || !path.startsWith(word, from)) continue
    const found = match(next, path, to + 1, args)
    if (found !== null) return found
  }
  if (step.argument === null || to === from) return null
  args.push(decodeSegment(path.slice(from, to)))
  const target = match(step.argument, path, to + 1, args)
  if (target === null) args.pop()
  return target
}

/** Control characters separate the parts of canonical forms; no resource's name has any. */
const CONTROL_CHARACTER = /\p{Cc}/u

/** A segment that cannot be decoded, or holds a control character, becomes one that names nothing. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    const text = decodeURIComponent(segment)
    return CONTROL_CHARACTER.test(text) ? '' : text
  } catch {
    return ''
  }
}
