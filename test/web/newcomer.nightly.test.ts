/** The way of a newcomer as it is written: from the demo to a page of one's own, behind nginx, with TLS. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../access/redis/server.ts'
import { startNginx } from '../deploy/balancers.ts'
import { temporaryFolder } from '../live.ts'
import { missingBrowser, missingTool } from '../programs.ts'
import { blocksOf, textOf } from '../sources/examples.ts'
import { BARE, startProgram, type Program } from '../started_program.ts'
import { faults, openBrowser } from './browser.ts'

const OWN = ['--admin-port=0', '--workers=1', '--drain-time=0s']

const addressOf = async (server: Program): Promise<string> =>
  new URL((await server.says(/listening on (\S+)/))[1]).origin

test(
  'A newcomer sees the demo, and then a page of the own table behind nginx with TLS, which asks nobody for a key.',
  { skip: missingBrowser() || missingTool('nginx', 'nginx-light') || missingTool('openssl', 'openssl') },
  async (t) => {
    const cwd = temporaryFolder(t)
    const place = { cwd, env: { ...BARE, HOME: join(cwd, 'home') } }
    const browser = await openBrowser(t)
    const seen = async (address: string, row: string): Promise<string> => {
      const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-IE' })
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', ({ message }) => errors.push(message))
      await page.goto(address)
      await page.locator('#content .buoys a').getByText(row, { exact: true }).waitFor({ timeout: 120_000 })
      const text = await page.locator('#content').innerText()
      assert.deepEqual([errors, await faults(page)], [[], []])
      await context.close()
      return text
    }

    const demo = startProgram(t, ['run', '--port=0', ...OWN], { ...place, cwd: temporaryFolder(t) })
    assert.match(await seen(await addressOf(demo), 'Anglet'), /buoys reporting in the last 24 hours/)
    await demo.stop()

    const blocks = blocksOf(textOf('docs/your-buoys.md'))
    const table = blocks.find(({ file }) => file === 'bank.csv')!
    writeFileSync(join(cwd, table.file), table.text)
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text.trim())
    const [init] = commands
    const run = commands.find((command) => command.includes('--trusted-proxy'))!
    const wordsOf = (command: string): string[] =>
      [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word).slice(2)
    assert.equal(await startProgram(t, wordsOf(init), place).ended, 0)

    const [port, https] = [await freePort(), await freePort()]
    const file = (name: string): string => join(cwd, name)
    const made = [
      '-keyout',
      file('k.pem'),
      '-out',
      file('c.pem'),
      '-subj',
      '/CN=buoys.example.org',
      '-days',
      '1',
    ]
    execFileSync('openssl', ['req', '-x509', '-nodes', '-newkey', 'rsa:2048', ...made], { stdio: 'pipe' })
    const proxy = blocks.find(({ language }) => language === 'nginx')!
    startNginx(
      t,
      proxy.text
        .replace('listen 443 ssl', `listen 127.0.0.1:${https} ssl`)
        .replace('/etc/ssl/buoys.crt', file('c.pem'))
        .replace('/etc/ssl/buoys.key', file('k.pem'))
        .replace('127.0.0.1:8080', `127.0.0.1:${port}`),
    )
    const locked = startProgram(
      t,
      ['run', '--config=groundswell.config.json', `--port=${port}`, ...OWN],
      place,
    )
    await addressOf(locked)
    const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
    await page.goto(`https://127.0.0.1:${https}/`)
    await page.locator('#invite-key').waitFor()
    await locked.says(/--explorer open .*--trusted-proxy 127\.0\.0\.1/)
    await locked.stop()

    await addressOf(startProgram(t, [...wordsOf(run), `--port=${port}`, ...OWN], place))
    assert.match(
      await seen(`https://127.0.0.1:${https}/`, 'Inner Bank'),
      /Data as of 13 Mar 2024, \d years old/,
    )
  },
)
