/** Shows whether the page is current: a dot whose form says it too, and a word. */
import { duration } from '../format.ts'
import { currentAt, now } from '../store.ts'
import { live } from './following.ts'
import type { LiveState } from './live.ts'

const MINUTE_MS = 60_000

/** A word, and a sentence for those who point at it. */
const TEXTS: { readonly [state in LiveState]: readonly [string, string] } = {
  off: ['', ''],
  connecting: ['Connecting', 'Connecting to the server'],
  live: ['Live', 'New readings appear as they are published'],
  lost: ['Reconnecting', 'The server cannot be reached; the page keeps trying'],
  refused: ['Every minute', 'Checking for new readings every minute'],
}

export function LiveDot() {
  const state = live.state.value
  // The age is brought up with all others.
  void now.value
  const age = performance.now() - currentAt.value
  const isOld = (state === 'lost' || state === 'refused') && age >= MINUTE_MS
  const old = `${duration(age / 1000)} old`
  const [word, title] = TEXTS[state]
  return (
    <p id="live" class="row" data-state={state} title={title} hidden={state === 'off'}>
      <span class="dot" aria-hidden="true" />
      {!isOld ? word : state === 'lost' ? `${word} · ${old}` : old}
    </p>
  )
}
