/** Pages and links behind a proxy that takes a prefix off the path: only the client knows the whole address. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { findTool, missingBrowser, missingTool } from '../programs.ts'
import { freePort } from '../access/redis/server.ts'
import { temporaryFolder } from '../live.ts'
import { until } from '../until.ts'
import { ACTIVE, serveWorld } from './browser.ts'

/** Runs nginx, which passes `/sea/` on as `/` and knows nothing else. @returns its port */
async function startNginx(t: TestContext, port: number): Promise<number> {
  const folder = temporaryFolder(t)
  const own = await freePort()
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name))
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log stderr error; events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name.replace('client_', '')};`).join(' ')}
  server {
    listen 127.0.0.1:${own};
    location /sea/ { proxy_pass http://127.0.0.1:${port}/; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
  )
  const nginx = spawn(findTool('nginx')!, ['-c', file, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.after(async () => {
    nginx.kill('SIGTERM')
    if (nginx.exitCode === null) await once(nginx, 'exit')
  })
  await until(
    () =>
      fetch(`http://127.0.0.1:${own}/`).then(
        () => true,
        () => false,
      ),
    'nginx does not listen',
  )
  return own
}

test(
  'Behind a proxy that takes a prefix off',
  { skip: missingTool('nginx', 'nginx-light') || missingBrowser() },
  async (t) => {
    const live = await serveWorld(t, { args: ['--explorer=open'] })
    const port = await startNginx(t, live.port)
    const origin = `http://127.0.0.1:${port}/sea/`
    const headers = { authorization: `Bearer ${live.key}` }

    await t.test(
      'links lead from page to page, a 401 to the documentation, and a buoy to its page.',
      async () => {
        const ids: number[] = []
        for (let url: string | null = `${origin}v2/buoys?active_only=false&per_page=2`; url !== null;) {
          const answer: Response = await fetch(url, { headers })
          assert.equal(answer.status, 200, url)
          ids.push(
            ...((await answer.json()) as { data: { buoys: { id: number }[] } }).data.buoys.map(
              ({ id }) => id,
            ),
          )
          const next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
          url = next === undefined ? null : new URL(next, url).href
        }
        assert.equal(new Set(ids).size, ACTIVE)
        assert.equal(ids.length, ACTIVE)
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
        assert.equal((await fetch(buoy)).status, 404, 'programs are told')
      },
    )
  },
)
