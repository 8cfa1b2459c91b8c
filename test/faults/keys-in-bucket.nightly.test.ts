/**
 * Real servers and commands with their keys in a bucket: two that issue at once, and an outage of the bucket.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { adminOf, ask, runCliWell, startLive, temporaryFolder, type Live } from '../live.ts'
import { stubFor } from '../snapshot/store/stub_s3.ts'
import { until } from '../until.ts'

const ADDRESS = 's3://bucket/sea/keys.json'
const PATH = '/v2/countries'
/** A change in a bucket is in force within five seconds; a busy machine takes longer for all. */
const PROMISED_MS = 5000

/** What the children of this process read, until the test ends. */
function inEnvironment(t: TestContext, variables: { [name: string]: string }): void {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  t.after(() => {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })
}

interface Issued {
  readonly id: string
  readonly key: string
}

const issue = async (owner: string): Promise<Issued> =>
  JSON.parse(await runCliWell(['keys', 'issue', '--keys', ADDRESS, '--owner', owner, '--json'])) as Issued

test(
  'Keys of a bucket that two commands issue at once both work on two servers, through an outage and a restart, and a key that is revoked after it ends.',
  { timeout: 600_000 },
  async (t) => {
    const stub = await stubFor(t)
    inEnvironment(t, stub.environment)
    const folders = [temporaryFolder(t), temporaryFolder(t)]
    const start = async (folder: string): Promise<Live> => {
      // Beside its folder of snapshots each keeps its copy of the keys.
      const own = join(folder, 'snapshots')
      return startLive(t, {
        snapshots: own,
        sourceArgs: ['--source', 'csv:data/fixtures/small'],
        args: [`--keys=${ADDRESS}`, '--admin-port=0', '--drain-time=0s'],
      })
    }
    const servers = await Promise.all(folders.map(start))
    const statusOf = async ({ port }: Live, { key }: Issued): Promise<number> =>
      (await ask(port, PATH, { headers: { authorization: `Bearer ${key}` } })).status
    const allAnswer = (live: readonly Live[], issued: Issued, status: number): Promise<void> =>
      until(async () =>
        (await Promise.all(live.map((each) => statusOf(each, issued)))).every((s) => s === status),
      )

    const [first, second] = await Promise.all([issue('surf club'), issue('sailing club')])
    await allAnswer(servers, first, 200)
    await allAnswer(servers, second, 200)

    stub.faultOf = () => 'hang'
    const admins = await Promise.all(servers.map(adminOf))
    const areGood = async (): Promise<boolean[]> =>
      Promise.all(
        admins.map(async (admin) => {
          const status = (await (await fetch(`${admin}/status`)).json()) as { keys: { good: boolean } }
          return status.keys.good
        }),
      )
    await until(async () => (await areGood()).every((good) => !good))
    await allAnswer(servers, first, 200)
    await servers[1].stop()
    servers[1] = await start(folders[1])
    await allAnswer(servers, second, 200)

    stub.faultOf = () => null
    await runCliWell(['keys', 'revoke', first.id, '--keys', ADDRESS])
    const from = performance.now()
    await allAnswer(servers, first, 401)
    const took = Math.round(performance.now() - from)
    t.diagnostic(`401 on both servers ${took} ms after "keys revoke" returned`)
    assert.ok(took < 4 * PROMISED_MS)
    await allAnswer(servers, second, 200)
    assert.match(servers[0].output().stderr, /the last good keys, 2 of them, stay in force/)
    assert.match(servers[0].output().stderr, /the keys are followed again/)
    for (const server of servers) assert.doesNotMatch(server.output().stderr, /gsw_/)
  },
)
