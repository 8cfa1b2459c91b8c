/** `/metrics` of a real server: what it counts is what was asked, whatever the answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fixtureSnapshots } from '../built_once.ts'
import { adminOf, exchange, type Live, startLive } from '../live.ts'
import { SLOW_ENGINES, missing } from '../http/server_for_tests.ts'
import { parseExposition, sumOf, type ParsedSample } from './metrics_text.ts'

const DURATION = 'http_server_request_duration_seconds'
const COUNT = `${DURATION}_count`

/** The metrics of a server, once they count at least `requests`: a worker may still be recording the last. */
async function scrape(live: Live, requests = 0): Promise<{ text: string; samples: ParsedSample[] }> {
  const admin = await adminOf(live)
  for (;;) {
    const answer = await fetch(`${admin}/metrics`)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    const text = await answer.text()
    const samples = parseExposition(text)
    if (sumOf(samples, COUNT) >= requests) return { text, samples }
    await setTimeout(50)
  }
}

for (const engine of SLOW_ENGINES) {
  test(
    `Every request is counted by method, route and status, whatever its answer (${engine}).`,
    { skip: missing(engine) },
    async (t) => {
      const quota = 30
      const args = ['--admin-port=0', '--admin-host=127.0.0.1', `--engine=${engine}`]
      const live = await startLive(t, { snapshots: await fixtureSnapshots(), args, quota })
      const expected = new Map<string, number>()
      let requests = 0
      let bytes = 0
      const ask = async (
        method: string,
        path: string,
        route: string,
        status: number,
        headers: { [name: string]: string } = {},
      ): Promise<Response> => {
        const answer = await fetch(`http://127.0.0.1:${live.port}${path}`, {
          method,
          // As sent, so that bytes can be compared.
          headers: { 'accept-encoding': 'identity', ...headers },
        })
        const body = await answer.arrayBuffer()
        assert.equal(answer.status, status, `${method} ${path}`)
        const series = [['GET', 'HEAD', 'OPTIONS'].includes(method) ? method : '_OTHER', route, status].join()
        expected.set(series, (expected.get(series) ?? 0) + 1)
        requests++
        bytes += body.byteLength
        return answer
      }
      const key = { authorization: `Bearer ${live.key}` }
      const list = await ask('GET', '/v2/buoys', '/v2/buoys', 200, key)
      for (let i = 0; i < 3; i++) {
        await ask('GET', '/v2/buoys', '/v2/buoys', 200, key)
      }
      await ask('HEAD', '/v2/buoys', '/v2/buoys', 200, key)
      await ask('GET', '/v2/buoys', '/v2/buoys', 304, { ...key, 'if-none-match': list.headers.get('etag')! })
      await ask('GET', '/v2/buoys/999999999', '/v2/buoys/{buoy_id}', 404, key)
      await ask('GET', '/v2/buoys?page=x', '/v2/buoys', 400, key)
      await ask('GET', '/v2/buoys', '/v2/buoys', 401)
      await ask('GET', '/v2/buoys', '/v2/buoys', 401, { authorization: 'Bearer gsw_wrong' })
      await ask('OPTIONS', '/v2/buoys', 'none', 204)
      await ask('DELETE', '/v2/buoys', 'none', 405)
      for (let i = 0; i < 20; i++) {
        await ask('GET', `/${'x'.repeat(i)}/never/seen/${i}`, 'unmatched', 404)
      }
      await ask('GET', '/v2/openapi.json', 'static', 200)
      // Eight calls of the key so far.
      for (let i = 0; i < quota - 8; i++) await ask('GET', '/v2/countries', '/v2/countries', 200, key)
      for (let i = 0; i < 5; i++) await ask('GET', '/v2/countries', '/v2/countries', 429, key)
      // Refused by the engine before any handler sees it.
      const unclear = await exchange(
        live.port,
        'GET /v2/buoys HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n',
      )
      assert.match(unclear, /^HTTP\/1\.1 400 /)
      // uws sees it as a request, Node's own parser answers it by itself.
      if (unclear.includes('at most one, a whole number')) {
        expected.set('GET,none,400', 1)
        requests++
        bytes += unclear.length - unclear.indexOf('\r\n\r\n') - 4
      }
      const { samples } = await scrape(live, requests)
      const found = new Map(
        samples
          .filter(({ name }) => name === COUNT)
          .map(({ labels, value }) => [
            [labels['http_request_method'], labels['http_route'], labels['http_response_status_code']].join(),
            value,
          ]),
      )
      assert.deepEqual(found, expected)
      for (const { labels, value } of samples.filter(({ name }) => name === COUNT)) {
        assert.equal(sumOf(samples, `${DURATION}_bucket`, { ...labels, le: '+Inf' }), value)
      }
      assert.equal(sumOf(samples, 'groundswell_response_body_bytes_total'), bytes)
      assert.equal(sumOf(samples, 'groundswell_authentication_failures_total', { reason: 'missing' }), 1)
      assert.equal(sumOf(samples, 'groundswell_authentication_failures_total', { reason: 'invalid' }), 1)
      assert.equal(sumOf(samples, 'groundswell_quota_refusals_total', { of: 'key' }), 5)
      assert.ok(sumOf(samples, 'groundswell_answer_cache_total', { result: 'hit' }) > 0)
      assert.ok(!JSON.stringify(samples).includes(live.key) && !JSON.stringify(samples).includes(live.keyId))
    },
  )
}
