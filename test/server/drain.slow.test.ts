/** How a server leaves: what it waits for, and for how long. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it, test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { snapshotOf } from '../faults/folder.ts'
import { SLOW_ENGINES, missing } from '../http/server_for_tests.ts'
import { adminOf, exchange, folderOfFile, startLive } from '../live.ts'
import { CLI, type Program, startProgram } from '../started_program.ts'

const folder = await snapshotOf(0)
const keys = join(folderOfFile(), 'keys.json')
const ports = ['--port=0', '--admin-port=0']
const usual = [`--snapshots=${folder}`, `--keys=${keys}`, ...ports, '--workers=1', '--anonymous-quota=0']
writeFileSync(keys, '{"format":1,"keys":[]}\n')

interface Served {
  base: string
  admin: string
  port: number
  /** Resolves to the exit code, of a SIGTERM. */
  stop: Program['stop']
}

/** Serves the snapshot, without keys, with one worker. */
async function serve(t: TestContext, engine: string, drainTime: string): Promise<Served> {
  const server = startProgram(t, ['serve', ...usual, `--engine=${engine}`, `--drain-time=${drainTime}`])
  const [, base] = await server.says(/listening on (\S+)\n/)
  const [, admin] = await server.says(/admin port on (\S+)\n/)
  return { base, admin, port: Number(new URL(base).port), stop: () => server.stop() }
}

/** A health check as a balancer that speaks HTTP/1.0 makes it. Resolves to the status code. */
const checkByHttp10 = async (admin: string): Promise<number> =>
  Number((await exchange(Number(new URL(admin).port), 'GET /readyz HTTP/1.0\r\n\r\n')).slice(9, 12))

for (const engine of SLOW_ENGINES) {
  describe(`a server that is stopped, on ${engine}`, { skip: missing(engine) }, () => {
    it('ends at once where nobody is connected and nobody asks for its readiness', async (t) => {
      const live = await serve(t, engine, '60s')
      const began = performance.now()
      assert.equal(await live.stop(), 0)
      assert.ok(performance.now() - began < 10_000)
    })

    it('is not ready through the whole drain, for a check by HTTP/1.0 too, and takes connections until its end', async (t) => {
      const live = await serve(t, engine, '2s')
      const { admin } = live
      assert.equal(await checkByHttp10(admin), 200)
      const began = performance.now()
      const end = live.stop()
      let taken = 0
      for (await wait(100); performance.now() - began < 1200; await wait(100)) {
        assert.equal(await checkByHttp10(admin), 503)
        const answer = await fetch(`${live.base}/buoys/nearest?lat=43.5&lng=-1.6`)
        assert.equal(answer.status, 200)
        assert.equal(answer.headers.get('connection'), 'close')
        assert.equal(answer.headers.get('keep-alive'), null)
        await answer.arrayBuffer()
        taken++
      }
      assert.ok(taken > 0)
      assert.equal(await end, 0)
    })

    it('refuses new streams of events with the seconds to wait, where its last streams have ended', async (t) => {
      const args = [`--engine=${engine}`, '--admin-port=0', '--drain-time=5s']
      const live = await startLive(t, { snapshots: folder, args })
      // A server that was asked for its readiness lets that be noticed before it ends.
      assert.equal(await checkByHttp10(await adminOf(live)), 200)
      const headers = { authorization: `Bearer ${live.key}` }
      const open = await fetch(`${live.base}/events`, { headers })
      assert.equal(open.status, 200)
      const end = live.stop()
      await open.text()
      const refused = await fetch(`${live.base}/events`, { headers })
      assert.equal(refused.status, 503)
      assert.equal(refused.headers.get('retry-after'), '5')
      assert.match(await refused.text(), /This server is stopping\. Open the stream again/)
      assert.equal((await fetch(`${live.base}/buoys`, { headers })).status, 200, 'other requests go on')
      assert.equal(await end, 0)
    })

    it('ends although a client holds a long answer unread', async (t) => {
      const live = await serve(t, engine, '1s')
      const holder = connect(live.port, '127.0.0.1').on('error', () => {})
      t.after(() => holder.destroy())
      holder.pause()
      const line = `GET ${new URL(live.base).pathname}/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n`
      holder.write(line.repeat(40))
      await wait(300)
      const began = performance.now()
      assert.equal(await live.stop(), 0)
      assert.ok(performance.now() - began < 10_000)
    })
  })
}

/**
 * A process in a namespace of its own is process 1 there: the kernel gives it no signal that it does not
 * handle.
 */
const asFirst = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child']
const noNamespaces =
  spawnSync('unshare', [...asFirst, 'true']).status === 0 ? false : 'this machine allows no namespaces'

test(
  'As process 1 it ends by SIGTERM, during its start and while it serves.',
  { skip: noNamespaces },
  async (t) => {
    const end = async (isReady: RegExp): Promise<unknown> => {
      const command = ['unshare', ...asFirst, process.execPath, CLI]
      const outer = startProgram(t, ['serve', ...usual, '--log-level=debug'], { command })
      await outer.says(isReady)
      const inner = spawnSync('pgrep', ['-P', String(outer.child.pid)], { encoding: 'utf8' }).stdout
      process.kill(Number(inner), 'SIGTERM')
      return Promise.race([outer.ended, wait(30_000).then(() => `does not end\n${outer.said}`)])
    }
    assert.equal(await end(/^debug: /m), 0)
    assert.equal(await end(/listening on/), 0)
  },
)
