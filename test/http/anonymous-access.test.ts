/** Whose pages may read without a key: the operator's choices, and which requests are a page's own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAnonymousRead, type AnonymousAccess } from '../../src/http/admission.ts'
import { isLoopback } from '../../src/server/serve-settings.ts'
import { anonymousAccessOf } from '../../src/server/worker-settings.ts'
import type { Exchange, HeaderName } from '../../src/http/exchange.ts'

test('Loopback addresses are those that only the machine itself reaches.', () => {
  for (const host of ['127.0.0.1', '127.8.9.10', '::1', 'localhost']) {
    assert.ok(isLoopback(host), host)
  }
  for (const host of ['0.0.0.0', '::', '::2', '1::1', '128.0.0.1', '127.0.0.1.example', 'a.example']) {
    assert.ok(!isLoopback(host), host)
  }
})

test('By default anonymous access is open for the demo, and on loopback for whoever asks directly.', () => {
  const local = { host: '127.0.0.1', isDemo: false, hasProxies: false }
  const cases: [Parameters<typeof anonymousAccessOf>, AnonymousAccess][] = [
    [['auto', local], 'direct'],
    [['auto', { ...local, host: '::1' }], 'direct'],
    [['auto', { ...local, hasProxies: true }], 'keyed'],
    [['auto', { ...local, host: '0.0.0.0' }], 'keyed'],
    [['auto', { ...local, host: '0.0.0.0', isDemo: true }], 'demo'],
    [['auto', { ...local, isDemo: true, hasProxies: true }], 'demo'],
    [['keyed', { ...local, isDemo: true }], 'keyed'],
    [['open', { ...local, host: '0.0.0.0', hasProxies: true }], 'open'],
  ]
  for (const [given, expected] of cases)
    assert.equal(anonymousAccessOf(...given), expected, JSON.stringify(given))
})

const OWN = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

const asked = (headers: { readonly [name: string]: string }): Exchange => {
  const header = (name: HeaderName): string => headers[name] ?? ''
  return { header, headerValues: header } as unknown as Exchange
}

test('Only what a page fetches from its own origin is its own, and nothing that a proxy forwards where it is direct.', () => {
  const cases: [string, { readonly [name: string]: string }, readonly AnonymousAccess[]][] = [
    ['fetch of the page', OWN, ['open', 'direct']],
    ['fetch with mode same-origin', { ...OWN, 'sec-fetch-mode': 'same-origin' }, ['open', 'direct']],
    ['a script', {}, []],
    ['another port', { ...OWN, 'sec-fetch-site': 'same-site' }, []],
    ['another origin', { ...OWN, 'sec-fetch-site': 'cross-site' }, []],
    ['an address that somebody opens', { ...OWN, 'sec-fetch-site': 'none' }, []],
    ['capitals', { ...OWN, 'sec-fetch-site': 'Same-Origin' }, []],
    ['two lines', { ...OWN, 'sec-fetch-site': 'same-origin, same-origin' }, []],
    ['a link', { ...OWN, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, []],
    ['an image', { ...OWN, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, []],
    ['a module', { ...OWN, 'sec-fetch-dest': 'script' }, []],
    ['the site alone', { 'sec-fetch-site': 'same-origin' }, []],
    ['through a proxy', { ...OWN, 'x-forwarded-for': '192.0.2.1' }, ['open']],
    ['through a proxy that says Forwarded', { ...OWN, forwarded: 'for=192.0.2.1' }, ['open']],
  ]
  for (const [what, headers, expected] of cases) {
    const letIn = (isDemo: boolean): AnonymousAccess[] =>
      (['open', 'direct', 'keyed', 'demo'] as const).filter((anonymousAccess) =>
        isAnonymousRead(asked(headers), anonymousAccess, isDemo),
      )
    assert.deepEqual(letIn(false), expected, what)
    // Access for the demo is open as long as there is nothing but the demo.
    const isOpen = expected.includes('open')
    assert.deepEqual(letIn(true), [...expected, ...(isOpen ? (['demo'] as const) : [])], what)
  }
})
