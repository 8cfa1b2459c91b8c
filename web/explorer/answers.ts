/**
 * Answers of the API by address, so that a page drawn again asks for nothing twice. Everything that a page
 * shows is of one snapshot: when an answer comes from another one, the page asks for the rest again, and then
 * changes all at once.
 */
import { ApiTrouble, type Address, type Api } from './api.ts'

export type Answer<T> =
  | { state: 'waiting' }
  | { state: 'here'; data: T }
  | { state: 'failed'; trouble: ApiTrouble }

/** The operations that need no key. */
const PUBLIC = /\/buoys\/(search|nearest)\?/
/** Enough for the panels that somebody goes through in an hour; a chart is some 40 KB. */
const KEPT_ANSWERS = 60
/** The threads of one server change snapshots within milliseconds; several servers take seconds. */
const ASK_AGAIN_MS = 500
/** After this many rounds with answers of several snapshots the page waits for the next refresh. */
const MOST_ROUNDS = 20

/** Answers of the snapshot that the page is about to show. */
interface Next {
  readonly snapshot: string
  readonly answers: Map<string, Answer<unknown>>
}

export class Answers {
  readonly #api: Api
  readonly #onChange: (trouble: ApiTrouble | null, isNews: boolean) => void
  #kept = new Map<string, Answer<unknown>>()
  /** The snapshot of all that is shown; null before the first answer. */
  snapshot: string | null = null
  #next: Next | null = null
  #rounds = 0
  readonly #asking = new Set<string>()
  /** The addresses that the page is drawn from. */
  readonly #used = new Set<string>()
  #abort = new AbortController()

  /**
   * `onChange` is called for each answer that has come, and with the trouble for each that has failed.
   * `isNews`: all answers are of another snapshot now.
   */
  constructor(api: Api, onChange: (trouble: ApiTrouble | null, isNews: boolean) => void) {
    this.#api = api
    this.#onChange = onChange
  }

  /** The answer of an address. The first call asks the server. */
  get<T>(address: Address<T>): Answer<T> {
    this.#used.add(address)
    const known = this.#kept.get(address)
    if (known !== undefined) return known as Answer<T>
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= KEPT_ANSWERS && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(address, { state: 'waiting' })
    void this.#ask(address)
    return { state: 'waiting' }
  }

  async #ask(address: string): Promise<void> {
    if (this.#asking.has(address)) return
    this.#asking.add(address)
    const { signal } = this.#abort
    try {
      const { data, snapshot } = await this.#api.ask(
        address,
        PUBLIC.test(address) ? 'public' : 'keyed',
        signal,
      )
      this.#asking.delete(address)
      this.#take(address, { state: 'here', data }, snapshot)
    } catch (error) {
      if (signal.aborted) return
      this.#asking.delete(address)
      const trouble =
        error instanceof ApiTrouble ? error : new ApiTrouble('unavailable', 'The answer cannot be read.')
      this.#fail(address, trouble)
    }
  }

  #take(address: string, answer: Answer<unknown>, snapshot: string | null): void {
    this.snapshot ??= snapshot
    const isOfShown = snapshot === null || snapshot === this.snapshot
    if (isOfShown && this.#next === null) {
      this.#rounds = 0
      this.#kept.set(address, answer)
      this.#onChange(null, false)
      return
    }
    if (snapshot !== null && this.#next?.snapshot !== snapshot) {
      this.#next = { snapshot, answers: new Map() }
      this.#rounds++
    }
    this.#next!.answers.set(address, answer)
    this.#complete()
  }

  /** Shows the next snapshot once it has everything that the page shows; asks for what is missing. */
  #complete(): void {
    const next = this.#next
    if (next === null) return
    const missing = [...this.#used].filter((address) => !next.answers.has(address))
    if (missing.length === 0) {
      this.#kept = next.answers
      this.snapshot = next.snapshot
      this.#next = null
      this.#rounds = 0
      this.#onChange(null, true)
      return
    }
    if (this.#rounds > MOST_ROUNDS) {
      this.#giveUp(
        new ApiTrouble('unavailable', 'The servers behind this address serve different snapshots.'),
      )
      return
    }
    const ask = (): void => {
      if (this.#next === next) for (const address of missing) void this.#ask(address)
    }
    if (this.#rounds === 1) ask()
    else setTimeout(ask, ASK_AGAIN_MS)
  }

  #fail(address: string, trouble: ApiTrouble): void {
    // Not found in the next snapshot is an answer, too.
    if (this.#next !== null && (trouble.kind === 'not found' || trouble.kind === 'refused')) {
      this.#next.answers.set(address, { state: 'failed', trouble })
      this.#complete()
      return
    }
    // An old answer is better than none.
    if (this.#kept.get(address)?.state !== 'here') this.#kept.set(address, { state: 'failed', trouble })
    if (this.#next === null) this.#onChange(trouble, false)
    else this.#giveUp(trouble)
  }

  /** The page stays as it is. Missing answers are requested again once failures are forgotten. */
  #giveUp(trouble: ApiTrouble): void {
    this.#next = null
    this.#rounds = 0
    for (const address of this.#used) {
      if (this.#kept.get(address)?.state !== 'here') this.#kept.set(address, { state: 'failed', trouble })
    }
    this.#onChange(trouble, false)
  }

  /** Whether the page waits for an answer that it is drawn from. */
  get isWaiting(): boolean {
    return [...this.#used].some((address) => this.#kept.get(address)?.state === 'waiting')
  }

  /** Forgets failures, so that the next drawing asks again. */
  forgetFailures(): void {
    for (const [address, { state }] of this.#kept) {
      if (state === 'failed') this.#kept.delete(address)
    }
  }

  /** The page is drawn from the addresses of later calls of `get`. */
  beginDrawing(): void {
    this.#used.clear()
  }

  /**
   * Asks again for the first address of the page, and for those that `change` with the minute; a new snapshot
   * brings the rest. The page stays as it is until new answers are there. Answers that it does not show are
   * forgotten. `withFirst` is false where the page knows that there is no new snapshot.
   */
  refresh(change: (address: string) => boolean, withFirst = true): void {
    for (const address of this.#kept.keys()) {
      if (!this.#used.has(address)) this.#kept.delete(address)
    }
    for (const [i, address] of [...this.#used].entries()) {
      if ((i === 0 && withFirst) || change(address)) void this.#ask(address)
    }
  }

  /** Forgets everything, as after a change of key. */
  clear(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    this.#kept.clear()
    this.#asking.clear()
    this.snapshot = null
    this.#next = null
    this.#rounds = 0
  }
}
