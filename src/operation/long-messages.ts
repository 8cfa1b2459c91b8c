/** The messages between a serving thread and the thread of long answers (`long/thread.ts`). */
import type { ErrorCode, ErrorDetails } from './errors.ts'
import type { Texts } from './query.ts'
import type { Shape } from './shape.ts'
import type { Language } from '../sea/languages.ts'
import type { Encoding } from './preferences.ts'

/** A longer answer is kept only for clients that ask for ranges of it: it would push out popular ones. */
export const MOST_KEPT_BYTES = 1024 * 1024

/** All that decides an answer, and who asks for it. */
export interface LongRequest {
  /** Ordinal of the operation. */
  readonly operation: number
  /** Decoded arguments of the path. */
  readonly path: readonly string[]
  readonly texts: Texts
  /** Null for the usual JSON. */
  readonly shape: Shape | null
  /** The query names a page or its size. */
  readonly isPaged: boolean
  readonly language: Language
  readonly snapshot: string
  readonly isPinned: boolean
  /** Time of the answer, epoch seconds with a fraction. */
  readonly now: number
  readonly encoding: Encoding | null
  readonly isHead: boolean
  /** Owner of the share: `key` and its slot; without a key the address. */
  readonly client: string
}

/** `number`: the answer's, on its port. */
export type ToLong =
  | { type: 'make'; number: number; request: LongRequest }
  /** The client has taken this many more bytes. */
  | { type: 'taken'; number: number; bytes: number }
  /** All is sent, or the client has gone. */
  | { type: 'done'; number: number }

/** `headers`: more header lines, each after a CRLF. */
export type FromLong =
  | {
      type: 'whole'
      number: number
      headers: Uint8Array
      /** The body. */
      pieces: readonly Uint8Array[]
      encoding: Encoding | null
      /** The body without its coding, if it is short enough to be kept. */
      plain: Uint8Array | null
    }
  /** A body of unknown length; its bytes follow. */
  | { type: 'begun'; number: number; headers: Uint8Array; encoding: Encoding | null }
  | { type: 'bytes'; number: number; bytes: Uint8Array }
  | { type: 'end'; number: number }
  /** The requested data do not exist, or the request is not allowed. */
  | { type: 'refused'; number: number; code: ErrorCode; message: string; details: ErrorDetails | null }
  /** Too many long answers are being made, or this one has taken too long. */
  | { type: 'busy'; number: number }
  /** A fault of ours, without text of a request. */
  | { type: 'fault'; number: number; fault: string }
