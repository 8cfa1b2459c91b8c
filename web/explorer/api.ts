/** The public API as the explorer uses it: calls with the visitor's key, their faults, the server's clock. */
import { signal, type Signal } from '@preact/signals'
import type { MapBuoysAnswer, Quota } from '../../clients/typescript/groundswell.ts'

/** A buoy of the map, in the water or virtual. */
export type ActiveBuoy = MapBuoysAnswer['data']['buoys'][number]

/** The address of an answer, from the server's root. `Data` is the type of the answer's `data`. */
export type Address<Data> = string & { readonly answer?: Data }

type TroubleKind = 'unauthorized' | 'quota' | 'offline' | 'unavailable' | 'not found' | 'refused'

/** A call that failed, with what a visitor can do about it. */
export class ApiTrouble extends Error {
  override name = 'ApiTrouble'
  readonly kind: TroubleKind
  /** Epoch milliseconds at which to try again; null where trying again changes nothing. */
  readonly again: number | null
  /** For something not found: a slug that was perhaps meant. */
  readonly guess: string | undefined

  constructor(kind: TroubleKind, message: string, again: number | null = null, guess?: string) {
    super(message)
    this.kind = kind
    this.again = again
    this.guess = guess
  }
}

/** Answers may have been on their way, or in a shared cache, for as long as they are fresh. */
const TOLERANCE_MS = 90_000
/** The wait for the next try, where the server does not name one. */
const RETRY_MS = 10_000

export class Api {
  readonly #base: string
  /** '' where the visitor has none. */
  readonly key: Signal<string>
  /** Whether the server lets its pages read without a key. */
  readonly isOpen: Signal<boolean>
  /** The quota in the newest answer; null before the first one. */
  readonly quota = signal<Quota | null>(null)
  /** Whether the data of the newest answer are made up; null before the first one. */
  readonly isDemo = signal<boolean | null>(null)
  /** The snapshot of the newest answer; null before the first one. */
  snapshot: string | null = null
  /** The time of its data, epoch milliseconds; null where it is not known. */
  readonly asOf = signal<number | null>(null)
  readonly #own: () => number
  #aheadMs = 0

  /** `base` is the path of the operations, `own` gives epoch milliseconds by the visitor's machine. */
  constructor(base: string, key: string, own: () => number, isOpen = false) {
    this.#base = base
    this.key = signal(key)
    this.#own = own
    this.isOpen = signal(isOpen)
  }

  /** Epoch milliseconds by the server, as far as it is known. */
  readonly clock = (): number => this.#own() + this.#aheadMs

  /** Takes the `Date` of an answer that has just come. A small difference is ignored. */
  learn(date: string): void {
    const ahead = Date.parse(date) - this.#own()
    if (Number.isFinite(ahead)) this.#aheadMs = Math.abs(ahead) < TOLERANCE_MS ? 0 : ahead
  }

  /** Whether the visitor has no key and needs one for all but the public operations. */
  get isGuest(): boolean {
    return this.key.value === '' && !this.isOpen.value
  }

  /** The head of a call that sends the visitor's key. */
  get authorization(): { [name: string]: string } {
    const key = this.key.peek()
    return key === '' ? {} : { Authorization: `Bearer ${key}` }
  }

  /** `path` is below the base path. */
  address<Data>(
    path: string,
    parameters: { readonly [name: string]: string | number | undefined } = {},
  ): Address<Data> {
    const fields = new URLSearchParams()
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) fields.set(name, String(value))
    }
    const query = fields.toString()
    return `${this.#base}${path}${query === '' ? '' : `?${query}`}` as Address<Data>
  }

  /**
   * Asks for the answer at an address. Returns its `data`, and the id of the snapshot that it was made from.
   * The browser uses its own copy only where the server confirms that it is still right.
   * @throws ApiTrouble, or what ended `signal`
   */
  async ask<Data>(
    address: Address<Data>,
    access: 'keyed' | 'public',
    signal: AbortSignal | null = null,
  ): Promise<{ data: Data; snapshot: string | null }> {
    // Without a key the server could only refuse.
    if (access === 'keyed' && this.isGuest) throw new ApiTrouble('unauthorized', 'API key required')
    const answer = await this.#fetch(address, signal)
    const body = (await answer.json().catch(() => null)) as { data?: Data } | null
    signal?.throwIfAborted()
    if (body?.data === undefined) throw this.#trouble(answer, 'The answer cannot be read.')
    return { data: body.data, snapshot: answer.headers.get('X-Snapshot-Id') }
  }

  /** A file at an address, and the name that the server gives it. @throws ApiTrouble */
  async file(address: string): Promise<{ bytes: Blob; name: string | undefined }> {
    const answer = await this.#fetch(address, null)
    const name = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1]
    try {
      return { bytes: await answer.blob(), name }
    } catch {
      throw new ApiTrouble('offline', 'The answer was cut off.')
    }
  }

  /** An answer that is not a failure. */
  async #fetch(address: string, signal: AbortSignal | null): Promise<Response> {
    // The tests are checked under Node's types, which know nothing of browsers' caches.
    const how: RequestInit & { cache: 'no-cache' } = {
      headers: this.authorization,
      cache: 'no-cache',
      signal,
    }
    let answer: Response
    try {
      answer = await fetch(address, how)
    } catch {
      signal?.throwIfAborted()
      throw new ApiTrouble('offline', 'The server cannot be reached.', this.clock() + RETRY_MS)
    }
    this.#readHead(answer.headers)
    if (answer.ok) return answer
    const body = (await answer.json().catch(() => null)) as {
      message?: string
      details?: { did_you_mean?: string }
    } | null
    signal?.throwIfAborted()
    const message = body?.message ?? `The server answered ${answer.status}.`
    throw this.#trouble(answer, message, body?.details?.did_you_mean)
  }

  #readHead(headers: Headers): void {
    this.learn(headers.get('Date') ?? '')
    const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) =>
      Number(headers.get(`X-RateLimit-${name}`) ?? NaN),
    ) as [number, number, number]
    if (Number.isFinite(limit + remaining + reset)) {
      this.quota.value = { limit, remaining, resetAt: new Date(reset * 1000) }
    }
    const snapshot = headers.get('X-Snapshot-Id')
    if (snapshot === null) return
    this.snapshot = snapshot
    this.isDemo.value = headers.has('X-Demo')
    const asOf = Date.parse(headers.get('X-Snapshot-As-Of') ?? '')
    this.asOf.value = Number.isNaN(asOf) ? null : asOf
  }

  #trouble({ status, headers }: Response, message: string, guess?: string): ApiTrouble {
    const wait = Number(headers.get('Retry-After') ?? NaN)
    const again = Number.isFinite(wait) ? this.clock() + wait * 1000 : null
    if (status === 401) return new ApiTrouble('unauthorized', message)
    if (status === 404) return new ApiTrouble('not found', message, null, guess)
    if (status === 429) return new ApiTrouble('quota', message, this.quota.peek()?.resetAt.getTime() ?? again)
    // An answer without data is not one that the request was at fault for.
    if (status >= 400 && status < 500) return new ApiTrouble('refused', message)
    return new ApiTrouble('unavailable', message, again ?? this.clock() + RETRY_MS)
  }
}
