/** Answers of the API by address, so that a page drawn anew asks for nothing twice. */
import { ApiTrouble, type Api } from './api.ts'

export type Answer<T> =
  | { state: 'waiting' }
  | { state: 'here'; data: T }
  | { state: 'failed'; trouble: ApiTrouble }

/** As many panels as somebody goes through in an hour; a chart is some 40 KB. */
const KEPT = 60

export class Answers {
  readonly #api: Api
  readonly #onChange: (trouble: ApiTrouble | null) => void
  readonly #kept = new Map<string, Answer<unknown>>()
  /** What the page as it is was drawn from. */
  readonly #used = new Set<string>()
  #abort = new AbortController()

  /** `onChange` is told of each answer that has come, and of the trouble where it is none. */
  constructor(api: Api, onChange: (trouble: ApiTrouble | null) => void) {
    this.#api = api
    this.#onChange = onChange
  }

  /** What is known of an address; asks for it the first time. */
  get<T>(address: string): Answer<T> {
    this.#used.add(address)
    const known = this.#kept.get(address)
    if (known !== undefined) return known as Answer<T>
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= KEPT && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(address, { state: 'waiting' })
    void this.#ask(address, this.#abort.signal)
    return { state: 'waiting' }
  }

  async #ask(address: string, signal: AbortSignal): Promise<void> {
    try {
      const data = await this.#api.get(address, 'keyed', signal)
      this.#kept.set(address, { state: 'here', data })
      this.#onChange(null)
    } catch (error) {
      if (signal.aborted) return
      const trouble =
        error instanceof ApiTrouble ? error : new ApiTrouble('unavailable', 'The answer cannot be read.')
      // An old answer is better than none.
      if (this.#kept.get(address)?.state !== 'here') this.#kept.set(address, { state: 'failed', trouble })
      this.#onChange(trouble)
    }
  }

  /** Forgets what failed, so that it is asked for again. */
  forgetFailures(): void {
    for (const [address, { state }] of this.#kept) if (state === 'failed') this.#kept.delete(address)
  }

  /** From here on `get` says what the page is drawn from. */
  beginDrawing(): void {
    this.#used.clear()
  }

  /** Asks again for what is shown, which stays until the new answer is there; forgets the rest. */
  refresh(): void {
    for (const address of this.#kept.keys()) {
      if (this.#used.has(address)) void this.#ask(address, this.#abort.signal)
      else this.#kept.delete(address)
    }
  }

  /** Forgets everything, as after a change of key. */
  clear(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    this.#kept.clear()
  }
}
