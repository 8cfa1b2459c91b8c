/** Settings that are taken and probably not meant: what a server says of them when it starts. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { readOptions } from '../../src/commands/command.ts'
import { SERVE_SETTINGS, settingsWarnings } from '../../src/server/serve-settings.ts'
import { startServer } from '../../src/server/start-server.ts'
import { lineText } from '../../src/system/log.ts'
import { temporaryFolder } from '../live.ts'

const EVERYBODY = ['10.0.0.0/8', '0.0.0.0/0', '::/0']

test('Settings that are probably not meant are said once when a server starts.', async (t) => {
  const lines: string[] = []
  const server = await startServer({
    data: temporaryFolder(t),
    port: 0,
    workers: 1,
    adminPort: 'off',
    log: (...event) => lines.push(lineText(...event)),
    trustedProxy: EVERYBODY,
  })
  await server.stop()
  const said = lines.filter((line) => line.startsWith('warning: --'))
  assert.match(
    said.join('\n'),
    /^warning: --trusted-proxy 0\.0\.0\.0\/0, ::\/0 trusts .*; name the addresses.*$/,
  )
})

test('Of settings, those that are probably not meant are known from their like.', () => {
  const open = '--explorer=open'
  const anywhere = [open, '--host=0.0.0.0']
  const cases: [options: string[], warning: RegExp | null][] = [
    [EVERYBODY.map((range) => `--trusted-proxy=${range}`), /^--trusted-proxy 0\.0\.0\.0\/0, ::\/0 trusts/],
    [['10.0.0.0/8', 'fd00::/8', '::1'].map((range) => `--trusted-proxy=${range}`), null],
    [
      [`--admin-token-file=${join('keys', 'token')}`, '--admin-port=off'],
      /^--admin-token-file does nothing while --admin-port is off$/,
    ],
    [anywhere, /^--explorer open on 0\.0\.0\.0 has effect only for browsers that come by https, /],
    [[...anywhere, '--public-url=https://buoys.example'], null],
    [[...anywhere, '--trusted-proxy=10.0.0.1'], null],
    [[open, '--host=127.0.0.1'], null],
  ]
  for (const [options, expected] of cases) {
    const [warning, ...others] = settingsWarnings(readOptions(SERVE_SETTINGS, options).config)
    assert.deepEqual(others, [])
    assert.match(warning?.found ?? '', expected ?? /^$/)
  }
})
