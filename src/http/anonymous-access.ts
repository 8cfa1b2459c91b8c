/**
 * Pages of this server may read keyed operations without a key if its operator opens the explorer. Browsers
 * let no page write `Sec-Fetch-*` itself (W3C Fetch Metadata; Fetch, "forbidden request-header"). A script
 * outside of a browser can; the quota of its address bounds what it takes.
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

/** Pages read without a key: always, while data are a demo, if no proxy speaks for the visitor, never. */
export type AnonymousAccess = 'open' | 'demo' | 'direct' | 'keyed'

/** What the operator can choose. `anonymousAccessOf` decides what `auto` is. */
export const EXPLORER_CHOICES = ['auto', 'open', 'keyed'] as const
export type ExplorerChoice = (typeof EXPLORER_CHOICES)[number]

const LOOPBACK_IPV4 = 127
const IPV4_MAPPED = 0xffff

/**
 * What `auto` is. A demo is open: its data are not a secret. A loopback address is open for whoever sits at
 * the machine, but not for what a proxy there forwards. Everything else is keyed.
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
 * Whether a page of this server asks, by `fetch` or `EventSource`. Pages of other origins (another port is
 * one, `same-site`), opened addresses, links, frames and images do not count. Browsers send these headers to
 * HTTPS and loopback addresses only, so DNS rebinding does not pass either.
 */
export function isAnonymousRead(
  exchange: Exchange,
  anonymousAccess: AnonymousAccess,
  isDemo: boolean,
): boolean {
  if (anonymousAccess === 'keyed' || (anonymousAccess === 'demo' && !isDemo)) return false
  // All lines of a header are compared: two must not pass for one.
  if (exchange.headerValues(SEC_FETCH_SITE) !== 'same-origin') return false
  const mode = exchange.headerValues(SEC_FETCH_MODE)
  if (mode !== 'cors' && mode !== 'same-origin') return false
  if (exchange.headerValues(SEC_FETCH_DEST) !== 'empty') return false
  if (anonymousAccess !== 'direct') return true
  return exchange.headerValues(X_FORWARDED_FOR) === '' && exchange.headerValues(FORWARDED) === ''
}
