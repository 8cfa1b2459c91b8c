/** How the page shows its state: the banner for what is wrong, and a dot for whether it is current. */
import { useLayoutEffect } from 'preact/hooks'
import type { ApiTrouble } from './api.ts'
import { clockTime, duration, viewerZone } from './format.ts'
import { Button } from './pieces.tsx'
import { live, tryNow } from './live/following.ts'
import type { LiveState } from './live/live.ts'
import { api, clock, currentAt, dataAge, now, trouble } from './store.ts'

/** Clocks differ: the page waits longer than the server asks, and with a wrong clock at least this long. */
const MARGIN_MS = 1000

/** What is wrong, and when the page goes on by itself. */
export function Banner() {
  const failure = trouble.value
  useLayoutEffect(() => {
    if (failure === null || failure.again === null) return
    const wait = Math.max(0, failure.again - clock()) + MARGIN_MS
    const timer = setTimeout(tryNow, wait)
    return () => clearTimeout(timer)
  }, [failure])
  return (
    <p id="banner" class="row apart" role="status" hidden={failure === null}>
      <span>{failure === null ? '' : textOf(failure)}</span>
      <Button text="Try now" onClick={tryNow} />
    </p>
  )
}

function textOf({ kind, again }: ApiTrouble): string {
  if (kind === 'quota' && again !== null) {
    const quota = api.quota.peek()
    const count = quota === null ? '' : `${quota.limit.toLocaleString('en')} `
    const wait = duration((again - clock()) / 1000)
    const at = clockTime(new Date(again), viewerZone())
    return `This hour’s ${count}requests are used up. The page continues by itself at ${at}, in ${wait}.`
  }
  return kind === 'offline'
    ? 'No connection to the server. What you see may be out of date; the page keeps trying.'
    : 'The server cannot answer right now. The page keeps trying.'
}

const MINUTE_MS = 60_000

/** A word, and a sentence for those who point at it. */
const TEXTS: { readonly [state in LiveState]: readonly [string, string] } = {
  off: ['', ''],
  connecting: ['Connecting', 'Connecting to the server'],
  live: ['Live', 'New readings appear as they are published'],
  lost: ['Reconnecting', 'The server cannot be reached; the page keeps trying'],
  refused: ['Every minute', 'Checking for new readings every minute'],
}

/** A dot, which shows the state by its form too, and a word. */
export function LiveDot() {
  const state = live.state.value
  // The age is brought up with all others.
  void now.value
  const age = performance.now() - currentAt.value
  const isOld = (state === 'lost' || state === 'refused') && age >= MINUTE_MS
  const old = `${duration(age / 1000)} old`
  const [word, title] = TEXTS[state]
  // What is shown is older than what comes: nothing has been published for long.
  const data = state === 'lost' ? '' : dataAge.value
  return (
    <p id="live" class="row" data-state={state} title={title} hidden={state === 'off' && data === ''}>
      <span class="dot" aria-hidden="true" />
      {data !== '' ? (
        <span class="ago old">{`Data as of ${data}`}</span>
      ) : !isOld ? (
        word
      ) : state === 'lost' ? (
        `${word} · ${old}`
      ) : (
        old
      )}
    </p>
  )
}
