/** Replicas as operators run them: processes that wait, follow, lose their source, and are killed. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MANIFEST_FILE } from '../../../src/snapshot/manifest.ts'
import { loadSnapshot } from '../../../src/snapshot/read-snapshot.ts'
import { amount } from '../../faults/folder.ts'
import { freePort } from '../../access/redis/server.ts'
import { runCli, temporaryFolder } from '../../live.ts'
import { startProgram, type Program } from '../../started_program.ts'
import { until } from '../../until.ts'
import { faultsOf, publish, serveFolder } from './world.ts'

interface Replica extends Program {
  port: number
  admin: number
}

async function startReplica(
  t: TestContext,
  command: 'serve' | 'run',
  from: string,
  dir: string,
  nodeOptions = '',
): Promise<Replica> {
  const [port, admin] = [await freePort(), await freePort()]
  const places = [`--from=${from}`, `--snapshots=${dir}`, `--keys=${emptyKeys(t)}`]
  const ports = [`--port=${port}`, `--admin-port=${admin}`]
  const more = ['--workers=1', '--poll=1s', '--drain-time=0', '--anonymous-quota=0']
  const env = { ...process.env, NODE_OPTIONS: nodeOptions }
  return Object.assign(startProgram(t, [command, ...places, ...ports, ...more], { env }), { port, admin })
}

/** The body of an answer, or null where nothing answers. */
async function asked(
  port: number,
  path: string,
): Promise<{ status: number; id: string | null; text: string } | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: answer.status, id: answer.headers.get('x-snapshot-id'), text: await answer.text() }
  } catch {
    return null
  }
}

const served = async ({ port }: Replica): Promise<string | null> =>
  (await asked(port, '/v2/buoys/nearest?lat=43.5&lng=-1.6'))?.id ?? null

async function statusOf({ admin }: Replica): Promise<{ [member: string]: unknown }> {
  const { mirror } = JSON.parse((await asked(admin, '/status'))!.text) as {
    mirror: { [member: string]: unknown }
  }
  return mirror
}

function emptyKeys(t: TestContext): string {
  const keys = join(temporaryFolder(t), 'keys.json')
  writeFileSync(keys, '{"format":1,"keys":[]}\n')
  return keys
}

test('A replica waits for its source with its port closed, follows it, and goes on without it.', async (t) => {
  const source = join(temporaryFolder(t), 'source')
  mkdirSync(source)
  const web = await serveFolder(t, source)
  const dir = join(temporaryFolder(t), 'made', 'copy')
  const one = await startReplica(t, 'serve', web.url, dir)
  await until(async () => (await asked(one.admin, '/readyz'))?.status === 503, 'not ready')
  await one.says(/the port opens when the mirror/)
  assert.match(
    (await asked(one.admin, '/readyz'))!.text,
    /no snapshot is loaded: waiting for the source of the mirror/,
  )
  assert.equal(await asked(one.port, '/v2/countries'), null)
  await one.says(/manifest\.msgpack is not there \(404\)/)
  assert.equal(one.stderr.match(/manifest\.msgpack is not there \(404\)/g)?.length, 1, one.stderr)

  const first = await publish(source, 0)
  await until(async () => (await served(one)) === first, 'the first snapshot')
  assert.equal((await asked(one.admin, '/readyz'))?.status, 200)
  const second = await publish(source, 1)
  await until(async () => (await served(one)) === second, 'the second snapshot')
  const { source: shown, state, snapshot, last_error: error } = await statusOf(one)
  assert.deepEqual([shown, state, snapshot, error], [web.url, 'current', second, null])

  web.close()
  await until(async () => (await statusOf(one)).state === 'failing', 'the loss of the source')
  assert.equal(await served(one), second)
  assert.equal(await one.stop(), 0, one.stderr)
  assert.equal(one.stderr.match(/nothing listens at/g)?.length, 1, one.stderr)
  assert.equal(existsSync(join(dir, 'builder.lock')), false)

  // Without its source it starts with what it has. `run` does the same, and builds nothing.
  const two = await startReplica(t, 'run', web.url, dir)
  await until(async () => (await served(two)) === second, 'a start from the folder')
  assert.match(
    two.stderr,
    new RegExp(`nothing listens at .*; snapshot ${second} stays, its data \\d+ days old`),
  )
  assert.equal(await two.stop(), 0)
  assert.deepEqual(await faultsOf(dir), [])
})

test('A replica that is killed at any moment of a copy keeps the parts that have come whole.', async (t) => {
  const source = join(temporaryFolder(t), 'source')
  let id = await publish(source, 0)
  const web = await serveFolder(t, source)
  const dir = join(temporaryFolder(t), 'copy')
  // Parts take a second each, four at a time.
  web.faultOf = (name) =>
    name === MANIFEST_FILE
      ? null
      : (response, { status, headers, bytes }) => {
          response.writeHead(status, headers)
          let at = 0
          const piece = Math.ceil(bytes.length / 20) + 1
          const timer = setInterval(() => {
            if (at < bytes.length) response.write(bytes.subarray(at, (at += piece)))
            else response.end()
          }, 50)
          response.once('close', () => clearInterval(timer))
        }
  const kills = amount(3, 60)
  let struck = 0
  for (let round = 1; round <= kills; round++) {
    const before = web.asked.length
    const replica = await startReplica(t, 'serve', web.url, dir)
    await until(
      () => web.asked.slice(before).some(({ name }) => name !== MANIFEST_FILE),
      'a part is asked for',
    )
    await sleep(900 * ((round * 0.618034) % 1))
    replica.kill('SIGKILL')
    await replica.ended
    if (readdirSync(dir).some((name) => name.startsWith('.tmp-'))) struck++
    const held = existsSync(join(dir, MANIFEST_FILE)) ? (await loadSnapshot(dir)).id : null
    // What had come of another snapshot is no hindrance.
    if (held === id || round % 2 === 0) id = await publish(source, round)
  }
  const last = await startReplica(t, 'serve', web.url, dir)
  await until(async () => (await served(last)) === id, 'the whole copy')
  assert.deepEqual(await faultsOf(dir), [])
  assert.ok(struck > 0, `none of ${kills} was killed within a part`)
  // A copy that is under way does not keep a replica from ending, neither once nor twice.
  for (const signals of [1, 2]) {
    const replica = signals === 1 ? last : await startReplica(t, 'serve', web.url, dir)
    web.asked.length = 0
    await publish(source, kills + signals)
    await until(() => web.asked.some(({ name }) => name !== MANIFEST_FILE), 'a copy')
    for (let signal = 0; signal < signals; signal++) replica.kill('SIGTERM')
    const code = await replica.ended
    assert.ok(
      signals === 1 ? code === 0 : code === 0 || code === 143,
      `${signals}: ${code}\n${replica.stderr}`,
    )
    await loadSnapshot(dir)
  }
})

/** Throws in an event of the sockets that the first parts come by, as a library may. */
const STRAY = `
import { subscribe } from 'node:diagnostics_channel'
let left = 3
subscribe('http.client.request.start', ({ request }) => {
  if (!request.path.includes('readings-') || left-- <= 0) return
  request.once('response', ({ socket }) => socket.prependOnceListener('data', () => { throw new Error('out of turn') }))
})
`

test('What a library throws out of turn fails a look at the source, and ends no replica.', async (t) => {
  const root = temporaryFolder(t)
  const source = join(root, 'source')
  const first = await publish(source, 0)
  const web = await serveFolder(t, source)
  // In two pieces, so that the second one is an event of its own.
  web.faultOf = (name) =>
    name === MANIFEST_FILE
      ? null
      : (response, { status, headers, bytes }) => {
          response.writeHead(status, headers).write(bytes.subarray(0, 100))
          setTimeout(() => response.end(bytes.subarray(100)), 50)
        }
  writeFileSync(join(root, 'stray.mjs'), STRAY)
  const dir = join(root, 'copy')
  const preload = `--import=${join(root, 'stray.mjs')}`
  const replica = await startReplica(t, 'serve', web.url, dir, preload)
  await until(async () => (await served(replica)) === first, 'the snapshot, after all')
  assert.match(replica.stderr, /^fault: Error out of turn/m)
  // Without its message, which may quote an address with a key.
  assert.match(replica.stderr, /^warning: a fault of this program: Error \| at /m)
  assert.doesNotMatch(replica.stderr, /Error: out of turn/)
  assert.match(replica.stderr, /the mirror of http\S+ is current again/)
  assert.deepEqual(await faultsOf(dir), [])
  assert.equal(await replica.stop(), 0, replica.stderr)
})

test('A source that cannot be mirrored is refused at the start.', async (t) => {
  const cases: [args: string[], message: RegExp][] = [
    [['serve', '--from=https://user:secret@host/x/'], /--from.*holds no user and no password/],
    [['run', '--from=http://127.0.0.1:9/', '--source=demo'], /--source and --from cannot be used together/],
  ]
  for (const [args, message] of cases) {
    const ran = await runCli([...args, `--keys=${emptyKeys(t)}`, '--port=0', '--admin-port=off'])
    assert.equal(ran.code, 2, ran.stderr)
    assert.match(ran.stderr, message)
  }
})
