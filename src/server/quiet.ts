/** Whether anybody asks at all: work that gives way to requests need not rest while there are none. */
export class Quiet {
  readonly #requests: () => number
  readonly #atLeastMs: number
  #count: number
  #since: number

  /** @param requests how many there have been */
  constructor(requests: () => number, atLeastMs: number) {
    this.#requests = requests
    this.#atLeastMs = atLeastMs
    this.#count = requests()
    this.#since = performance.now()
  }

  /** Whether no request came since the last look, nor in the time that it takes at least. */
  lasts(): boolean {
    const count = this.#requests()
    const now = performance.now()
    const isSame = count === this.#count
    if (!isSame) this.#since = now
    this.#count = count
    return isSame && now - this.#since >= this.#atLeastMs
  }
}
