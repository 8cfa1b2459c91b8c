/**
 * Who sees what without a key, in a real browser: a stranger at the open explorer, pages of other origins at
 * the same server, and a guest at one that asks for a key.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { listening } from '../listening.ts'
import { startLive, type Live } from '../live.ts'
import { until } from '../until.ts'
import { drawn, faults, IMAGE_NAME, leaveOutMap, NO_MAP, PHYSICAL, SCRIPT_NAME, visit } from './browser.ts'

const CONTACT = 'Ask <b>the harbour</b> & "crew"'

/** A site of its own on another port of the same machine: another origin, and the same site. */
function otherSite(t: TestContext): Promise<number> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>other</title>')
  })
  return listening(t, server)
}

/** What a page gets that asks with `fetch`: a status, or the name of the error. */
const fetched = (page: Page, address: string, how: object = {}): Promise<unknown> =>
  page.evaluate(
    `fetch(${JSON.stringify(address)}, ${JSON.stringify(how)}).then(({ status }) => status, ({ name }) => name)`,
  )

export async function testOpen(t: TestContext, browser: Browser, live: Live): Promise<void> {
  await t.test('is open to its pages and to nobody who pretends to be one', async (t) => {
    const context = await browser.newContext()
    t.after(() => context.close())
    await leaveOutMap(context)
    const page = await context.newPage()
    const origin = `http://127.0.0.1:${live.port}`
    const address = `${origin}/v2/buoys/map`
    await page.goto(`${origin}/`)
    await page.locator('#row-anglet').waitFor()
    assert.equal(await fetched(page, '/v2/buoys/map'), 200)
    assert.equal(
      await fetched(page, '/v2/buoys/map', { headers: { Authorization: 'Bearer gsw_wrong' } }),
      401,
    )

    // The answer is in the browser's cache now, and the other site is of the same site.
    const other = await context.newPage()
    const port = await otherSite(t)
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      await other.goto(`http://${host}/`)
      for (const how of [
        {},
        { credentials: 'include' },
        { cache: 'force-cache' },
        { referrer: '', referrerPolicy: 'no-referrer' },
        // A browser lets no page write this.
        { headers: { 'Sec-Fetch-Site': 'same-origin' } },
      ]) {
        const got = await fetched(other, address, how)
        assert.ok(got === 401 || got === 'TypeError', `${host} ${JSON.stringify(how)}: ${String(got)}`)
      }
      assert.equal(
        await fetched(other, address, { cache: 'only-if-cached', mode: 'same-origin' }),
        'TypeError',
      )
      const seen = await other.evaluate<string>(
        `new Promise((done) => {
          const source = new EventSource(${JSON.stringify(address)})
          source.onerror = () => done('refused')
          source.onopen = () => done('open')
        })`,
      )
      assert.equal(seen, 'refused')
      // Neither a link nor a frame makes a page of it.
      const [answer] = await Promise.all([
        other.waitForResponse(address),
        other.evaluate(
          `document.body.append(Object.assign(document.createElement('iframe'), { src: '${address}' }))`,
        ),
      ])
      assert.equal(answer.status(), 401)
    }
    assert.equal((await page.goto(address))?.status(), 401)
  })
}

export async function testKeyed(t: TestContext, browser: Browser, { snapshots }: Live): Promise<void> {
  const blog = await otherSite(t)
  const live = await startLive(t, {
    snapshots,
    args: ['--explorer=keyed', `--contact=${CONTACT}`, `--embed-from=http://127.0.0.1:${blog}`],
  })

  await t.test('shows one buoy within the pages that the operator names', async (t) => {
    const { page, origin, errors } = await visit(t, browser, live, 'embed/anglet')
    await page.evaluate(`sessionStorage.setItem('groundswell-key', '${live.key}')`)
    await page.reload()
    await page.getByRole('heading', { name: 'Anglet' }).waitFor()
    await page.locator('.hero').waitFor()
    assert.equal(await page.getByRole('link').getAttribute('href'), '../#buoy=anglet')
    assert.deepEqual(await faults(page), [])
    assert.equal(errors.length, 0, errors.join('\n'))
    const refused = (): number => errors.filter((error) => error.includes('frame-ancestors')).length
    const frames = [`${origin}embed/anglet`, origin].map((address) => `<iframe src="${address}"></iframe>`)
    const show = async (host: string): Promise<void> => {
      await page.route(`http://${host}/`, (route) => route.continue())
      await page.goto(`http://${host}/`)
      await page.evaluate(`document.body.innerHTML = '${frames.join('')}'`)
    }
    await show(`127.0.0.1:${blog}`)
    await page.frameLocator('iframe').first().locator('.hero').waitFor()
    await until(() => refused() === 1)
    await show(`localhost:${blog}`)
    await until(() => refused() === 3)
  })

  await t.test('shows a guest names, positions and newest readings, without a dead end', async (t) => {
    const { page, errors } = await visit(t, browser, live, '')
    await drawn(page, PHYSICAL)
    assert.equal(await page.locator('#content .buoys a').count(), PHYSICAL)
    await page.locator('#content').getByText(SCRIPT_NAME).waitFor()
    await page.locator('#query').fill('reef')
    await page.getByRole('option').getByText(IMAGE_NAME).waitFor()
    await page.locator('#query').press('Enter')
    await page.getByRole('heading', { name: IMAGE_NAME }).waitFor()
    await page.locator('.sub').getByText('48.30° N').waitFor()
    await page.locator('.hero').waitFor()
    await page.getByText('need an API key').waitFor()
    await page.getByText(`For a key: ${CONTACT}`).waitFor()
    assert.equal(await page.locator('#content b, #content img, #content script').count(), 0)
    assert.equal(await page.title(), `${IMAGE_NAME} · groundswell`)
    assert.deepEqual(await faults(page), [])
    // A shared address works as well.
    await page.reload()
    await page.getByRole('heading', { name: IMAGE_NAME }).waitFor()
    // The map has come to it, and the address says so: its middle is near a buoy from here on.
    await page.waitForURL(/map=/)
    await page.locator('#back').click()
    await page.locator('#content .buoys a').first().click()
    await page.locator('.hero').waitFor()
    await page.locator('#map canvas').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Sea at/ }).waitFor()
    await page.locator('#invite-key').waitFor()
    assert.deepEqual(errors, [])
  })

  await t.test('takes a key from a guest, and says what is wrong with one', async (t) => {
    const { page } = await visit(t, browser, live, '', {}, NO_MAP)
    await page.locator('#invite-key').click()
    await page.getByLabel('Your key').fill('two words')
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByText('one word, no spaces').waitFor()
    await page.getByLabel('Your key').fill('gsw_wrong')
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByText('The server does not accept this key').waitFor()
    await page.getByLabel('Another key').fill(live.key)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.locator('#row-anglet').waitFor()
    await page.locator('#invite-key').waitFor({ state: 'hidden' })
  })
}
