/** A small text beside the pointer: the name of the buoy under it, or why a click was not answered. */
import { element } from '../dom.ts'

const APART_PIXELS = 14
/** A text that answers a click goes away by itself. */
const ANSWER_MS = 2500

export class HoverText {
  readonly #host: HTMLElement
  readonly #text = element('div', { class: 'hover-text', 'aria-hidden': 'true', hidden: true })
  #timer = 0

  constructor(host: HTMLElement) {
    this.#host = host
    host.append(this.#text)
  }

  /** Shows `text` at pixels of the host. */
  show(text: string, { x, y }: { x: number; y: number }): void {
    clearTimeout(this.#timer)
    this.#text.textContent = text
    this.#text.hidden = false
    const { offsetWidth: width, offsetHeight: height } = this.#text
    const isRight = x + APART_PIXELS + width < this.#host.clientWidth
    const left = isRight ? x + APART_PIXELS : Math.max(0, x - APART_PIXELS - width)
    this.#text.style.transform = `translate(${left}px, ${Math.max(0, y - height / 2)}px)`
  }

  answer(text: string, at: { x: number; y: number }): void {
    this.show(text, at)
    this.#timer = setTimeout(() => this.hide(), ANSWER_MS)
  }

  hide(): void {
    this.#text.hidden = true
  }
}
