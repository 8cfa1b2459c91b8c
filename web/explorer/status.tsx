/** How the page shows its state: the banner for what is wrong, and a dot for whether it is current. */
import { useLayoutEffect } from 'preact/hooks'
import type { ApiTrouble } from './api.ts'
import { clockTime, duration, viewerZone } from './format.ts'
import { countText, texts } from './language.ts'
import { Button } from './pieces.tsx'
import { live, tryNow } from './live/following.ts'
import { api, buoys, clock, currentAt, dataAge, now, trouble } from './store.ts'

/** Clocks differ: the page waits longer than the server asks, and with a wrong clock at least this long. */
const MARGIN_MS = 1000

/** Says what is wrong, and when the page goes on. */
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
      <Button text={texts.status.tryNow} onClick={tryNow} />
    </p>
  )
}

function textOf({ kind, again }: ApiTrouble): string {
  if (kind === 'quota' && again !== null) {
    const quota = api.quota.peek()
    const count = quota === null ? '' : `${countText(quota.limit)} `
    const wait = duration((again - clock()) / 1000)
    const at = clockTime(new Date(again), viewerZone())
    return texts.status.usedUp(count, at, wait)
  }
  return kind === 'offline' ? texts.status.noConnection : texts.status.noAnswer
}

const MINUTE_MS = 60_000

/** A dot, which shows the state by its form too, and a word. */
export function LiveDot() {
  // A connection without data shows nothing yet.
  const state = live.state.value === 'live' && buoys.value === null ? 'connecting' : live.state.value
  // The age is brought up with all others.
  void now.value
  const age = performance.now() - currentAt.value
  const isOld = (state === 'lost' || state === 'refused') && age >= MINUTE_MS
  const old = texts.time.old(duration(age / 1000))
  // A word, and a sentence for those who point at it.
  const [word, title] = texts.status[state]
  // The data are old because nothing has been published for long.
  const data = state === 'lost' ? '' : dataAge.value
  const since = state === 'lost' ? `${word} · ${old}` : old
  const said = isOld ? since : word
  return (
    <p id="live" class="row" data-state={state} title={title} hidden={state === 'off' && data === ''}>
      <span class="dot" aria-hidden="true" />
      {data === '' ? said : <span class="ago old">{data}</span>}
    </p>
  )
}
