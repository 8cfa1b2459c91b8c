/** Waits with new nodes while the visitor holds on to the old ones: drags over them, or has selected text. */

/** After so long the news come all the same. */
const PATIENCE_MS = 20_000

export class Calm {
  readonly #place: HTMLElement
  #isPressed = false
  #waiting: (() => void) | null = null
  #timer = 0

  constructor(place: HTMLElement) {
    this.#place = place
    place.addEventListener('pointerdown', () => (this.#isPressed = true))
    for (const name of ['pointerup', 'pointercancel']) {
      addEventListener(name, () => {
        this.#isPressed = false
        this.#look()
      })
    }
    document.addEventListener('selectionchange', () => this.#look())
  }

  /** Calls `act` now, or when the visitor has let go; of several that wait the last one is called. */
  whenLetGo(act: () => void): void {
    this.#waiting = act
    if (this.#isBusy()) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#act(), PATIENCE_MS)
    } else this.#act()
  }

  #isBusy(): boolean {
    if (this.#isPressed) return true
    const selection = getSelection()
    return (
      selection !== null &&
      selection.type === 'Range' &&
      selection.anchorNode !== null &&
      this.#place.contains(selection.anchorNode)
    )
  }

  #look(): void {
    // After the click that the end of a press becomes.
    if (this.#waiting !== null) setTimeout(() => this.#waiting === null || this.#isBusy() || this.#act())
  }

  #act(): void {
    clearTimeout(this.#timer)
    const act = this.#waiting
    this.#waiting = null
    act?.()
  }
}
