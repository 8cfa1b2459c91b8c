/** Whether anybody asks: work that gives way to requests need not pause while nobody does. */
export class Quiet {
  readonly #requests: () => number
  readonly #atLeastMs: number
  #count: number
  #since: number

  constructor(requests: () => number, atLeastMs: number) {
    this.#requests = requests
    this.#atLeastMs = atLeastMs
    this.#count = requests()
    this.#since = performance.now()
  }

  /** Whether no request came since the last look, nor in the least time. */
  lasts(): boolean {
    const count = this.#requests()
    const now = performance.now()
    const isSame = count === this.#count
    if (!isSame) this.#since = now
    this.#count = count
    return isSame && now - this.#since >= this.#atLeastMs
  }
}
