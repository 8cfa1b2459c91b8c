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
    workers: 1,
    adminPort: 'off',
    log: (...event) => lines.push(lineText(...event)),
    ...options,
  })
  await server.stop()
  return lines.filter((line) => line.startsWith('warning: --'))
}

test('Settings that are probably not meant are said once when a server starts, and their like are not.', async (t) => {
  const open = { explorer: 'open', host: '0.0.0.0' } as const
  const cases: [options: ServerOptions, warning: RegExp | null][] = [
    [
      { trustedProxy: ['10.0.0.0/8', '0.0.0.0/0', '::/0'] },
      /^warning: --trusted-proxy 0\.0\.0\.0\/0, ::\/0 trusts everybody: .*; name the addresses/,
    ],
    [{ trustedProxy: ['10.0.0.0/8', 'fd00::/8', '::1'] }, null],
    [
      { adminTokenFile: join(temporaryFolder(t), 'token') },
      /^warning: --admin-token-file does nothing while --admin-port is off; /,
    ],
    [open, /^warning: --explorer open on 0\.0\.0\.0 has effect only for browsers that come by https, /],
    [{ ...open, publicUrl: 'https://buoys.example' }, null],
    [{ ...open, trustedProxy: ['10.0.0.1'] }, null],
    [{ ...open, host: '127.0.0.1' }, null],
  ]
  for (const [options, expected] of cases) {
    const [warning = '', ...others] = await warnings(t, options)
    assert.deepEqual(others, [])
    assert.match(warning, expected ?? /^$/)
  }
})
