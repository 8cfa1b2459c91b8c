/**
 * The open explorer is no free API: what a script gets without the headers of a browser, with forged ones,
 * with a key, and how much an address may take in an hour, on both engines. `test/web/anonymous-access.ts`
 * asks with a real browser.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressCounters } from '../../src/access/address-counters.ts'
import { TrustedProxies } from '../../src/access/trusted-proxies.ts'
import { smallSnapshot } from '../access/turned_clock.ts'
import { AskedPath, viewOf } from '../answered.ts'
import { missing, SLOW_ENGINES } from '../http/server_for_tests.ts'
import { adminOf, Client, type Reply, startLive } from '../live.ts'
import { until } from '../until.ts'
import { awayFromTheHour } from './hour.ts'

/** As a browser sends them for the fetch of a page of the same origin. */
const OWN = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const QUOTA = 40
const snapshots = await smallSnapshot()

const remaining = ({ headers }: Reply): number => Number(headers['x-ratelimit-remaining'])

test('The open explorer', async (outer) => {
  for (const engine of SLOW_ENGINES) {
    await outer.test(
      `over ${engine} gives a script nothing without a browser's headers, and with forged ones what its address has.`,
      { skip: missing(engine) },
      async (t) => {
        await awayFromTheHour()
        const args = [`--engine=${engine}`, `--explorer-quota=${QUOTA}`, '--admin-port=0']
        const live = await startLive(t, { snapshots, args })
        const keyless = new Client(live, null)
        for (const path of ['/buoys', '/buoys/map', '/buoys/1/readings', '/conditions?lat=1&lng=1']) {
          // What else is not a page's own, test/http/anonymous-access.test.ts asks.
          for (const headers of [
            {},
            { ...OWN, 'sec-fetch-site': 'cross-site' },
            { ...OWN, 'sec-fetch-site': ['same-origin', 'cross-site'] },
          ]) {
            const reply = await keyless.get(path, { headers })
            assert.equal(reply.status, 401, `${path} ${JSON.stringify(headers)}`)
            assert.match(reply.text, /API key required/)
            assert.equal(reply.headers['x-ratelimit-limit'], undefined)
          }
        }
        // Forged headers are as good as a page's own; then the address pays.
        const first = await keyless.get('/buoys/map', { headers: OWN })
        assert.equal(first.status, 200)
        assert.equal(Number(first.headers['x-ratelimit-limit']), QUOTA)
        assert.equal(remaining(first), QUOTA - 1)
        assert.match(String(first.headers['cache-control']), /^private, max-age=\d+$/)
        // Without these the page of another port could read the answer from the browser's cache.
        assert.match(String(first.headers.vary), /Authorization, Origin, Sec-Fetch-Site/)
        const etag = String(first.headers.etag)
        const again = await keyless.get('/buoys/map', { headers: { ...OWN, 'if-none-match': etag } })
        assert.equal(again.status, 304)
        assert.equal((await keyless.get('/buoys/map', { headers: { 'if-none-match': etag } })).status, 401)
        assert.equal((await keyless.get('/buoys/no-such-buoy', { headers: OWN })).status, 404)
        // A wrong key is a wrong key, and a good one counts for itself.
        const wrong = { ...OWN, authorization: 'Bearer gsw_wrong' }
        const refused = await keyless.get('/buoys/map', { headers: wrong })
        assert.equal(refused.status, 401)
        assert.match(refused.text, /Invalid API key/)
        assert.equal((await keyless.get('/buoys/map?api_key=gsw_wrong', { headers: OWN })).status, 401)
        const keyed = await keyless.get('/buoys', {
          headers: { ...OWN, authorization: `Bearer ${live.key}` },
        })
        assert.equal(Number(keyed.headers['x-ratelimit-limit']), 1_000_000)
        assert.doesNotMatch(String(keyed.headers.vary), /Sec-Fetch/)
        // Three reads so far. Whatever the address asks for, and over however many connections: no more than
        // its quota.
        const replies = await Promise.all(
          Array.from({ length: QUOTA + 20 }, (_, i) =>
            keyless.get(`/buoys?page=${1 + (i % 3)}`, { headers: OWN }),
          ),
        )
        const ok = replies.filter(({ status }) => status === 200)
        assert.equal(ok.length, QUOTA - 3)
        const late = replies.filter(({ status }) => status === 429)
        assert.equal(late.length, 23)
        for (const reply of late) {
          assert.equal(remaining(reply), 0)
          assert.ok(Number(reply.headers['retry-after']) > 0)
        }
        // By default nobody is let in for whom a proxy speaks, or says so itself.
        for (const proxy of [{ 'x-forwarded-for': '198.51.100.9' }, { forwarded: 'for=198.51.100.9' }]) {
          assert.equal((await keyless.get('/buoys', { headers: { ...OWN, ...proxy } })).status, 401)
        }
        const told = (): string[] =>
          Object.values(live.output())
            .join('')
            .split('\n')
            .filter((line) => /forwarded a request of the explorer/.test(line))
        // The log is another process's pipe: it may come after the answer.
        await until(() => told().length > 0, 'no line about forwarded requests')
        assert.equal(told().length, 1, 'once an hour')
        assert.match(told()[0], /--explorer open lets all visitors read, --trusted-proxy 127\.0\.0\.1 counts/)
        // The quotas of keys, and of the public operations, are as before.
        const key = { authorization: `Bearer ${live.key}` }
        assert.equal((await keyless.get('/buoys', { headers: key })).status, 200)
        assert.equal((await keyless.get('/buoys/search?query=al', { headers: OWN })).status, 200)
        const admin = await adminOf(live)
        const status = (await (await fetch(`${admin}/status`)).json()) as { explorer: object }
        assert.deepEqual(status.explorer, { access: 'direct', quota: QUOTA, reads: QUOTA + 23, refused: 23 })
        const metrics = await (await fetch(`${admin}/metrics`)).text()
        for (const [of, count] of Object.entries({ explorer: 23, key: 0, address: 0 })) {
          assert.ok(metrics.includes(`\ngroundswell_quota_refusals_total{of="${of}"} ${count}\n`), of)
        }
      },
    )
  }

  await outer.test(
    'counts a visitor behind a trusted proxy by the address that the proxy names.',
    async () => {
      const asked = new AskedPath(await viewOf(snapshots), {
        anonymousAccess: 'open',
        explorerQuota: 2,
        addresses: new AddressCounters(AddressCounters.allocate()),
        proxies: new TrustedProxies(['192.0.2.1']),
        clock: () => Date.parse('2026-03-27T12:00:00Z') / 1000,
      })
      const ask = (visitor: string): number =>
        asked.get('/v2/countries', { ...OWN, 'x-forwarded-for': visitor }).status
      const visitors = ['198.51.100.1', '198.51.100.1', '198.51.100.1', '198.51.100.2']
      assert.deepEqual(visitors.map(ask), [200, 200, 429, 200])
      // One /64 is one visitor.
      const others = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::3']
      assert.deepEqual(others.map(ask), [200, 200, 429, 200])
    },
  )
})
