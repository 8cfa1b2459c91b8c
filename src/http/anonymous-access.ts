/**
 * Who may ask a keyed operation without a key: nobody, or the pages of this server, where its operator opens
 * the explorer. A browser tells in `Sec-Fetch-*` which page asks, and lets no page write these headers itself
 * (W3C Fetch Metadata; Fetch, "forbidden request-header"). A script outside of a browser can write them; the
 * quota of its address bounds what it takes.
 */
import {
  FORWARDED,
  SEC_FETCH_DEST,
  SEC_FETCH_MODE,
  SEC_FETCH_SITE,
  X_FORWARDED_FOR,
  type Exchange,
} from './exchange.ts'
import { parseAddress } from '../access/ip-address.ts'

/**
 * Which visitors' pages may read without a key: all, all while the data served are a demo, visitors that no
 * proxy speaks for, or none.
 */
export type AnonymousAccess = 'open' | 'demo' | 'direct' | 'keyed'

/** What the operator can choose. `anonymousAccessOf` decides what `auto` is. */
export const EXPLORER_CHOICES = ['auto', 'open', 'keyed'] as const
export type ExplorerChoice = (typeof EXPLORER_CHOICES)[number]

const LOOPBACK_IPV4 = 127
const IPV4_MAPPED = 0xffff

/**
 * What `auto` is. A demo is open, since its data are not a secret. On a loopback address the pages are open
 * for whoever sits at the machine, but not for what a proxy there forwards from elsewhere. In all other cases
 * they are keyed.
 */
export function anonymousAccessOf(
  choice: ExplorerChoice,
  { host, isDemo, hasProxies }: { host: string; isDemo: boolean; hasProxies: boolean },
): AnonymousAccess {
  if (choice !== 'auto') return choice
  if (isDemo) return 'demo'
  return isLoopback(host) && !hasProxies ? 'direct' : 'keyed'
}

/** Whether only this machine reaches the address that a server listens on. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  const words = new Int32Array(4)
  if (!parseAddress(host, words)) return false
  const [first, second, third, last] = words
  if (first !== 0 || second !== 0) return false
  return third === IPV4_MAPPED ? last >>> 24 === LOOPBACK_IPV4 : third === 0 && last === 1
}

/**
 * Whether a page of this server asks, by `fetch` or `EventSource`. A page of another origin (another port is
 * one, `same-site`), an address that somebody opens, a link, a frame and an image do not count. Browsers send
 * these headers to HTTPS and to loopback addresses only, so a foreign name that was made to resolve to this
 * server (DNS rebinding) does not pass either.
 *
 * @param isDemo whether the data served are a demo
 */
export function isAnonymousRead(
  exchange: Exchange,
  anonymousAccess: AnonymousAccess,
  isDemo: boolean,
): boolean {
  if (anonymousAccess === 'keyed' || (anonymousAccess === 'demo' && !isDemo)) return false
  // All lines of a header are compared, so that two of them do not pass for one.
  if (exchange.headerValues(SEC_FETCH_SITE) !== 'same-origin') return false
  const mode = exchange.headerValues(SEC_FETCH_MODE)
  if (mode !== 'cors' && mode !== 'same-origin') return false
  if (exchange.headerValues(SEC_FETCH_DEST) !== 'empty') return false
  if (anonymousAccess !== 'direct') return true
  return exchange.headerValues(X_FORWARDED_FOR) === '' && exchange.headerValues(FORWARDED) === ''
}
