/** Keeps the page current: with what is published, the address, other pages of this browser, and the time. */
import { effect, untracked } from '@preact/signals'
import { isOfNow } from '../addresses.ts'
import { takeKeyFromAddress } from '../key.ts'
import { texts } from '../language.ts'
import {
  announce,
  answers,
  api,
  clock,
  currentAt,
  followStorage,
  map,
  now,
  retry,
  takeKey,
  view,
  viewOfAddress,
} from '../store.ts'
import { Live } from './live.ts'

/** Time to notice a new snapshot without events, mostly by a call without a body. */
const REFRESH_MS = 60_000
/** A published snapshot that does not come by then is on other servers alone, and the page asks again. */
const ASK_AGAIN_MS = [1000, 4000, 15_000] as const
/** Ages in the page are this much behind at most. */
const TICK_MS = 10_000

export const live: Live = new Live(api, ({ snapshot }) => follow(snapshot))

/** A snapshot is published: shows it, and asks again where the server that answers does not have it yet. */
function follow(snapshot: string, tries = 0): void {
  const wait = ASK_AGAIN_MS[tries]
  if (answers.snapshot === snapshot) return
  if (answers.snapshot !== null) answers.refresh(isOfNow)
  if (wait !== undefined) setTimeout(() => live.last === snapshot && follow(snapshot, tries + 1), wait)
}

/** Asks for what failed without waiting any longer. */
export function tryNow(): void {
  live.hurry()
  retry()
}

const isSeen = (): boolean => document.visibilityState === 'visible'

let refreshedAt = clock()
function refresh(): void {
  if (!isSeen()) return
  refreshedAt = clock()
  answers.refresh(isOfNow, live.state.peek() !== 'live')
}

const tick = (): void => void (now.value = clock())

export function startFollowing(): void {
  effect(() => {
    void [api.key.value, api.isOpen.value]
    untracked(() => live.start())
  })
  effect(followState)
  setInterval(refresh, REFRESH_MS)
  setInterval(tick, TICK_MS)
  addEventListener('popstate', followAddress)
  addEventListener('offline', () => live.suspect())
  addEventListener('online', tryNow)
  addEventListener('storage', followStorage)
  document.addEventListener('visibilitychange', () => {
    live.see(isSeen())
    if (!isSeen()) return
    tick()
    if (clock() - refreshedAt >= REFRESH_MS) refresh()
  })
}

let wasLost = false

/** Acts on the state of the connection. Returns a function to call when the state is over. */
function followState(): (() => void) | undefined {
  if (live.state.value === 'lost') {
    wasLost = true
    announce(texts.status.lostNow)
  }
  if (live.state.value !== 'live') return undefined
  if (wasLost) announce(texts.status.back)
  wasLost = false
  retry()
  // The page was current up to then.
  return () => (currentAt.value = performance.now())
}

/** The visitor went back or forth, or changed the address by hand, which may bring a key. */
function followAddress(): void {
  const key = takeKeyFromAddress()
  const before = JSON.stringify(view.peek().camera)
  view.value = viewOfAddress()
  if (key !== '') takeKey(key)
  const { camera } = view.peek()
  if (camera !== null && JSON.stringify(camera) !== before) {
    map.peek()?.jumpTo({ center: camera, zoom: camera.zoom })
  }
}
