/**
 * A second opinion on the S3 side: moto, a server that others wrote. Debian 13 has it as python3-moto and
 * PyPI as `moto[s3,server]`; Debian 12, which the CI runs on, has neither, so the test is left out there, by
 * name.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { test, type TestContext } from 'node:test'
import { checkFolder } from '../../../src/builder/folder-check.ts'
import { Prefix } from '../../../src/builder/publishing/prefix.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { openStore } from '../../../src/snapshot/store/store-address.ts'
import type { Store } from '../../../src/snapshot/store/store.ts'
import { Builder, buoyAt } from '../../builder/publishing/builders.ts'
import { freePort } from '../../access/redis/server.ts'
import { temporaryFolder } from '../../live.ts'
import { until } from '../../until.ts'
import { StubS3 } from './stub_s3.ts'

const isThere = spawnSync('moto_server', ['--help'], { stdio: 'ignore' }).status === 0
const skip =
  !isThere &&
  'moto_server is missing: apt-get install python3-moto (Debian 13), or pip install "moto[s3,server]"'

/** Starts moto with a bucket, and returns what opens stores in it. */
async function startMoto(t: TestContext): Promise<() => Store> {
  const port = await freePort()
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  const endpoint = `http://127.0.0.1:${port}`
  const authorization = 'AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/s3/aws4_request'
  const make = { method: 'PUT', headers: { authorization } }
  await until(
    async () => (await fetch(`${endpoint}/bucket`, make).catch(() => null))?.status === 200,
    'moto does not begin to listen',
  )
  return () =>
    openStore('s3://bucket/sea', {
      environment: { ...new StubS3().environment, AWS_ENDPOINT_URL_S3: endpoint },
      random: Math.random,
    })
}

test('A builder and its successor publish to moto, and a third one is refused.', { skip }, async (t) => {
  const open = await startMoto(t)
  const folder = temporaryFolder(t)
  const [one, two] = ['one', 'two'].map((name) => {
    const store = open()
    t.after(() => store.close())
    return new Builder(folder, name, new StubS3(), { store })
  })
  for (const step of [0, 1]) assert.ok((await one.build([buoyAt('A', step)])).outcome)
  assert.ok((await two.build([buoyAt('A', 2), buoyAt('B', 2)])).outcome)
  await assert.rejects(one.build([buoyAt('A', 3)]), /another builder publishes there/)
  const newest = await new Prefix(one.store, false).newest()
  assert.equal((await readManifest(two.dir))?.id, newest?.manifest.id)
  for (const { dir } of [one, two]) assert.deepEqual(await checkFolder(dir), [])
})
