/** The banner at the top of the page: what is wrong, and when the page goes on by itself. */
import { useLayoutEffect } from 'preact/hooks'
import type { ApiTrouble } from './api.ts'
import { clockTime, duration, viewerZone } from './format.ts'
import { Button } from './pieces.tsx'
import { tryNow } from './live/following.ts'
import { api, clock, trouble } from './store.ts'

/** Clocks differ: the page waits a little longer than the server asks. */
const MARGIN_MS = 1000
/** A clock that is wrong must not make the page ask all the time. */
const LEAST_WAIT_MS = 1000

export function Banner() {
  const failure = trouble.value
  useLayoutEffect(() => {
    if (failure === null || failure.again === null) return
    const wait = Math.max(LEAST_WAIT_MS, failure.again - clock() + MARGIN_MS)
    const timer = setTimeout(tryNow, wait)
    return () => clearTimeout(timer)
  }, [failure])
  return (
    <p id="banner" class="row" role="status" hidden={failure === null}>
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
