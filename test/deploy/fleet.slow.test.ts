/** The shipped files of the balancers, each run by its program: nobody notices that replicas go and come. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it, test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { missingTool } from '../programs.ts'
import { rounds } from '../rounds.ts'
import { exchange } from '../live.ts'
import { startProgram, type Program } from '../started_program.ts'

const FLEET = 'deploy/fleet/fleet.mjs'
/** The first in every run, all of them in the nightly tier. */
const BALANCERS = [
  { name: 'haproxy', installs: 'haproxy', toHttp10: 505 },
  { name: 'nginx', installs: 'nginx-light', toHttp10: 200 },
  { name: 'caddy', installs: 'caddy', toHttp10: 200 },
].slice(0, rounds(1, 3))

/** A fleet stops what it has started when it is asked to stop, as it is at the end of the test. */
function startFleet(t: TestContext, args: readonly string[]): Program {
  let fleet: Program | null = null
  t.after(() => fleet?.stop())
  return (fleet = startProgram(t, ['--port=0', '--minutes=10', ...args], {
    command: [process.execPath, FLEET],
  }))
}

/** Asks by HTTP/1.0 and resolves to the status code. */
async function askByHttp10(base: string): Promise<number> {
  const { port, pathname } = new URL(base)
  const request = `GET ${pathname}/buoys/nearest?lat=43.5&lng=-1.6 HTTP/1.0\r\n\r\n`
  return Number((await exchange(Number(port), request)).slice(9, 12))
}

describe('the shipped file', { concurrency: true }, () => {
  for (const { name, installs, toHttp10 } of BALANCERS) {
    it(
      `of ${name} lets no request fail when a replica is stopped and another one is killed`,
      { skip: missingTool(name, installs) },
      async (t) => {
        const fleet = startFleet(t, [
          `--balancer=${name}`,
          '--rolling=SIGTERM,SIGKILL',
          '--restarts=2',
          '--rate=100',
          '--drain-time=2s',
          '--every=0',
          '--json',
        ])
        const [, base] = await fleet.says(new RegExp(`${name} on (\\S+) `))
        assert.equal(await askByHttp10(base), toHttp10)
        const code = await fleet.ended
        const { stdout: report, stderr: notes } = fleet
        assert.equal(code, 0, `${notes}\n${report}`)
        const { sent, answered, failed } = JSON.parse(report) as { [name: string]: number }
        assert.deepEqual([answered, failed], [sent, 0], report)
        assert.ok(sent > 500, report)
        assert.match(notes, /replica 1 ended with 0,.*SIGTERM/)
        assert.match(notes, /replica 2 ended with SIGKILL/)
      },
    )
  }
})

test(
  'A fleet for trying says what to ask, follows its builder, and leaves nothing behind at a Ctrl-C.',
  { skip: missingTool('haproxy', 'haproxy') },
  async (t) => {
    const fleet = startFleet(t, ['--every=1', '--drain-time=1s'])
    const [, base] = await fleet.says(/curl '(\S+)\/buoys\/nearest/)
    const [, key] = await fleet.says(/Bearer (\S+)'/)
    const snapshots = new Set<string | null>()
    while (snapshots.size < 2) {
      const answer = await fetch(`${base}/buoys?per_page=1&active_only=false`, {
        headers: { authorization: `Bearer ${key}` },
      })
      assert.equal(answer.status, 200)
      snapshots.add(answer.headers.get('x-snapshot-id'))
      await answer.arrayBuffer()
      await wait(100)
    }
    fleet.kill('SIGINT')
    const code = await fleet.ended
    const { stderr: notes } = fleet
    assert.equal(code, 0, notes)
    const pids = [...notes.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => pid)
    assert.equal(pids.length, 4)
    for (const pid of pids) assert.ok(!existsSync(`/proc/${pid}`), `process ${pid} is left`)
  },
)

test('A fleet refuses options that mean nothing, with what is allowed.', async (t) => {
  for (const [argument, message] of [
    ['--balancer=apache', '--balancer: haproxy, nginx, caddy, not apache'],
    [
      '--rolling=SIGHUP',
      '--rolling: SIGTERM, SIGKILL, SIGTERM+SIGKILL, SIGTERM+SIGTERM or several with commas, not SIGHUP',
    ],
    ['--rate=fast', '--rate: a whole number, not fast'],
    ['--rate=0', '--rate: a number above zero'],
  ]) {
    const fleet = startFleet(t, [argument])
    assert.equal(await fleet.ended, 2)
    assert.ok(fleet.stderr.includes(message), fleet.stderr)
  }
})
