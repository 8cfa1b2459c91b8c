/** Links behind a proxy that takes a prefix off the path: only the client knows the whole address. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startNginx } from '../deploy/balancers.ts'
import { freePort } from '../access/redis/server.ts'
import { missingTool } from '../programs.ts'
import { until } from '../until.ts'
import { ACTIVE, serveWorld } from './browser.ts'

test(
  'Behind a proxy that takes a prefix off links lead from page to page, a 401 to the documentation, and a buoy to its page.',
  { skip: missingTool('nginx', 'nginx-light') },
  async (t) => {
    const live = await serveWorld(t, { args: ['--explorer=open'] })
    const port = await freePort()
    startNginx(
      t,
      `server {
  listen 127.0.0.1:${port};
  location /sea/ { proxy_pass http://127.0.0.1:${live.port}/; proxy_http_version 1.1; proxy_set_header Connection ""; }
}`,
    )
    const origin = `http://127.0.0.1:${port}/sea/`
    const headers = { authorization: `Bearer ${live.key}` }
    await until(() =>
      fetch(origin).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const ids: number[] = []
    for (let url: string | null = `${origin}v2/buoys?active_only=false&per_page=2`; url !== null;) {
      const answer: Response = await fetch(url, { headers })
      assert.equal(answer.status, 200, url)
      const { data } = (await answer.json()) as { data: { buoys: { id: number }[] } }
      ids.push(...data.buoys.map(({ id }) => id))
      const next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
      url = next === undefined ? null : new URL(next, url).href
    }
    assert.deepEqual([ids.length, new Set(ids).size], [ACTIVE, ACTIVE])
    for (const path of ['v2/countries', 'v2/buoys/1/readings/chart']) {
      const refused = await fetch(origin + path, { headers: { 'sec-fetch-site': 'cross-site' } })
      assert.equal(refused.status, 401, path)
      const help = /<([^>]*)>; rel="help"/.exec(refused.headers.get('link') ?? '')![1]
      assert.equal(new URL(help, origin + path).href, `${origin}docs`)
    }
    const buoy = `${origin}buoys/cap-ferret`
    const led = await fetch(buoy, { headers: { accept: 'text/html,*/*' }, redirect: 'manual' })
    assert.equal(led.status, 302)
    assert.equal(new URL(led.headers.get('location')!, buoy).href, `${origin}#buoy=cap-ferret`)
    const program = await fetch(buoy, { headers: { accept: 'application/json' } })
    assert.equal(program.status, 404, 'programs are told')
  },
)
