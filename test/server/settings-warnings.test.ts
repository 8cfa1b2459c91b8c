/** Settings that are taken and probably not meant: what a server says of them when it starts. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startServer, type ServerOptions } from '../../src/server/start-server.ts'
import { lineText } from '../../src/system/log.ts'
import { temporaryFolder } from '../live.ts'

/** The warnings of a start that are about an option. */
async function warnings(t: TestContext, options: ServerOptions): Promise<string[]> {
  const lines: string[] = []
  const server = await startServer({
    data: temporaryFolder(t),
    port: 0,
    workers: 2,
    adminPort: 'off',
    log: (...event) => lines.push(lineText(...event)),
    ...options,
  })
  await server.stop()
  return lines.filter((line) => line.startsWith('warning: --'))
}

test('A server that is to trust everybody as a proxy warns of that once, and of no other network.', async (t) => {
  const [warning, ...others] = await warnings(t, { trustedProxy: ['10.0.0.0/8', '0.0.0.0/0', '::/0'] })
  assert.deepEqual(others, [])
  assert.match(
    warning,
    /^warning: --trusted-proxy 0\.0\.0\.0\/0, ::\/0 trusts everybody: .*; name the addresses/,
  )
  assert.deepEqual(await warnings(t, { trustedProxy: ['10.0.0.0/8', 'fd00::/8', '::1'] }), [])
})

test('A token for an admin port that is off is said to do nothing, whether or not its file is there.', async (t) => {
  const adminTokenFile = join(temporaryFolder(t), 'token')
  const [warning, ...others] = await warnings(t, { adminTokenFile })
  assert.deepEqual(others, [])
  assert.match(warning, /^warning: --admin-token-file does nothing while --admin-port is off; /)
})

test('An explorer that is open where browsers come without TLS is said to ask visitors for a key.', async (t) => {
  const open = { explorer: 'open', host: '0.0.0.0' } as const
  const [warning, ...others] = await warnings(t, open)
  assert.deepEqual(others, [])
  assert.match(
    warning,
    /^warning: --explorer open on 0\.0\.0\.0 has effect only for browsers that come by https, /,
  )
  assert.deepEqual(await warnings(t, { ...open, publicUrl: 'https://buoys.example' }), [])
  assert.deepEqual(await warnings(t, { ...open, trustedProxy: ['10.0.0.1'] }), [])
  assert.deepEqual(await warnings(t, { ...open, host: '127.0.0.1' }), [])
})
