/** Fingers on a page by Chromium's debugging protocol: real touches, with what the browser makes of them. */
import type { CDPSession, Page } from 'playwright-core'

interface Finger {
  x: number
  y: number
}

const STEPS = 6
const TAP_S = 0.03
const TAPS_APART_S = 0.15

export class Fingers {
  readonly #session: CDPSession

  private constructor(session: CDPSession) {
    this.#session = session
  }

  static async on(page: Page): Promise<Fingers> {
    return new Fingers(await page.context().newCDPSession(page))
  }

  /** `timestamp` in epoch seconds: a slow machine must not make slow fingers. */
  async #send(
    type: 'touchStart' | 'touchMove' | 'touchEnd',
    fingers: readonly Finger[],
    timestamp = Date.now() / 1000,
  ): Promise<void> {
    await this.#session.send('Input.dispatchTouchEvent', {
      type,
      timestamp,
      touchPoints: fingers.map(({ x, y }, id) => ({ x, y, id })),
    })
  }

  async tap(at: Finger): Promise<void> {
    await this.#send('touchStart', [at])
    await this.#send('touchEnd', [])
  }

  async doubleTap(at: Finger): Promise<void> {
    const begin = Date.now() / 1000
    for (const tap of [begin, begin + TAPS_APART_S]) {
      await this.#send('touchStart', [at], tap)
      await this.#send('touchEnd', [], tap + TAP_S)
    }
  }

  /** Puts fingers down at `from`, moves each to its place in `to`, and lifts them. */
  async drag(from: readonly Finger[], to: readonly Finger[]): Promise<void> {
    await this.#send('touchStart', from)
    for (let step = 1; step <= STEPS; step++) {
      const share = step / STEPS
      await this.#send(
        'touchMove',
        from.map(({ x, y }, i) => ({ x: x + (to[i].x - x) * share, y: y + (to[i].y - y) * share })),
      )
    }
    await this.#send('touchEnd', [])
  }
}
