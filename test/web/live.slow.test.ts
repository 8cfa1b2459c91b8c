/** The explorer follows what a server publishes that goes and comes, in a real browser. */
import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { runCliWell, startLive, temporaryFolder } from '../live.ts'
import { missingBrowser } from '../programs.ts'
import { BY_NIGHT } from '../rounds.ts'
import { until } from '../until.ts'
import { NO_MAP, openBrowser, untilInPage, visit, writeWorld } from './browser.ts'

const HALF_HOUR_S = 1800

const dot = (page: Page, state: string): Promise<void> =>
  page.locator(`#live[data-state="${state}"]`).waitFor({ state: 'visible' })

/** The page takes data for current that are hours old, which leaves room for what is published later. */
async function takeForCurrent(page: Page): Promise<void> {
  await page.route(/\/$/, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace('data-refresh="0"', 'data-refresh="36000"')
    return route.fulfill({ response, body })
  })
  await page.reload()
}

/** What the visitor has before their eyes. */
const sight = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const content = document.getElementById('content')
    return {
      scroll: content.scrollTop,
      table: document.querySelector('#table .scroll')?.scrollTop,
      open: document.getElementById('table')?.open,
      focus: document.activeElement?.id || document.activeElement?.value,
      title: document.title,
    }
  })()`)

test('An explorer that follows what is published', { skip: missingBrowser() }, async (t) => {
  const browser = await openBrowser(t)
  const folder = join(temporaryFolder(t), 'world')
  // What is published last is not later than the clock: a build leaves out what lies ahead of it.
  const now = Date.now() / 1000 - 6 * HALF_HOUR_S
  writeWorld(folder, now - HALF_HOUR_S)
  const args = ['--hold-snapshots=3']
  const live = await startLive(t, { sourceArgs: ['--source', `csv:${folder}`], args })
  const build = (): Promise<string> =>
    runCliWell(['build', '--source', `csv:${folder}`, '--out', live.snapshots])
  const publish = (to: number): Promise<string> => {
    writeWorld(folder, to)
    return build()
  }

  await t.test('shows it where the visitor is, and changes the values alone', async (t) => {
    const path = `#key=${live.key}&buoy=anglet&days=2`
    const { page, errors } = await visit(t, browser, live, path, {}, NO_MAP)
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await dot(page, 'live')
    await page.locator('.plot canvas').nth(2).waitFor()
    await page.getByText('Readings as a table').click()
    await page.evaluate(`document.querySelector('#table .scroll').scrollTop = 90`)
    await page.evaluate(`(() => {
      document.getElementById('content').scrollTop = 260
      document.querySelector('input[value=seasons]').focus({ preventScroll: true })
    })()`)
    const before = await sight(page)
    const reading = page.locator('.latest time.ago')
    const old = await reading.getAttribute('datetime')
    requests.length = 0
    await publish(now)
    await untilInPage(page, `document.querySelector('.latest time.ago').dateTime !== '${old}'`)
    assert.deepEqual(await sight(page), before)
    // Nothing was loaded anew but the answers, over the connection that was there.
    assert.deepEqual(
      requests.filter((path) => /^\/v2\/(?!buoys|forecast|readings)/.test(path)),
      [],
    )
    assert.deepEqual(errors, [])
  })

  await t.test('keeps the row in its place that the visitor looks at', { skip: BY_NIGHT }, async (t) => {
    const small = { viewport: { width: 1100, height: 420 } }
    const { page } = await visit(t, browser, live, `#key=${live.key}`, small, NO_MAP)
    await dot(page, 'live')
    await page.locator('#row-anglet').waitFor()
    const place = (): Promise<number> =>
      page.evaluate(`document.getElementById('row-anglet').getBoundingClientRect().top`)
    await page.locator('#row-anglet').scrollIntoViewIfNeeded()
    await page.locator('#row-anglet').focus()
    await page.evaluate(`document.getElementById('content').scrollTop -= 20`)
    const before = await place()
    const newest = `[...document.querySelectorAll('.buoys time.ago')].map((age) => age.dateTime).toSorted().at(-1)`
    const old = String(await page.evaluate(newest))
    await publish(now + HALF_HOUR_S)
    await untilInPage(page, `${newest} > '${old}'`)
    assert.equal(await place(), before)
    assert.equal(await page.evaluate('document.activeElement.id'), 'row-anglet')
  })

  await t.test('asks every minute without events, and says its age', { skip: BY_NIGHT }, async (t) => {
    const { page } = await visit(t, browser, live, '', {}, { clock: true, map: false })
    let isAway = false
    await takeForCurrent(page)
    await page.route('**/v2/events', (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '3600' } }),
    )
    await page.route('**/v2/buoys/**', (route) => (isAway ? route.abort() : route.continue()))
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.evaluate(`location.hash = 'key=${live.key}'`)
    await page.locator('#row-anglet').waitFor()
    await dot(page, 'refused')
    const mapsAsked = (): number => asked.filter((path) => path.startsWith('/v2/buoys/map')).length
    const minutes = mapsAsked()
    await page.clock.fastForward(61_000)
    await untilInPage(page, `document.getElementById('live').textContent === 'Every minute'`)
    await until(() => mapsAsked() > minutes, 'the map is not asked for')
    const age = page.locator('#row-anglet time.ago')
    const old = await age.textContent()
    isAway = true
    await page.clock.fastForward(10 * 60_000)
    await page.locator('#live').getByText('10 min old').waitFor()
    assert.equal(asked.filter((path) => path === '/v2/events').length, 1, 'the server has asked for an hour')
    assert.notEqual(await age.textContent(), old, 'ages go on')
  })

  await t.test('leaves its connection while it is hidden', { skip: BY_NIGHT }, async (t) => {
    const { page } = await visit(t, browser, live, '', {}, { clock: true, map: false })
    await page.evaluate(`location.hash = 'key=${live.key}&buoy=anglet'`)
    await page.locator('.latest').waitFor()
    await dot(page, 'live')
    const streams = { begun: 0, ended: 0 }
    const isStream = (url: string): boolean => url.endsWith('/v2/events')
    page.on('request', (request) => void (isStream(request.url()) && streams.begun++))
    page.on('requestfailed', (request) => void (isStream(request.url()) && streams.ended++))
    const see = (state: string): Promise<unknown> =>
      page.evaluate(`(() => {
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      })()`)
    // A glance at another tab costs no connection.
    await see('hidden')
    await page.clock.fastForward(5000)
    await see('visible')
    assert.deepEqual(streams, { begun: 0, ended: 0 })
    await see('hidden')
    await page.clock.fastForward(11_000)
    await until(() => streams.ended > 0, 'the connection is still there')
    const old = await page.locator('.latest time.ago').getAttribute('datetime')
    await publish(now + 2 * HALF_HOUR_S)
    assert.equal(streams.begun, 0)
    await see('visible')
    await untilInPage(page, `document.querySelector('.latest time.ago').dateTime > '${old}'`)
    await until(() => streams.begun > 0, 'there is no new connection')
    assert.equal(streams.begun, 1)
  })

  await t.test('holds no more after 60 snapshots than after ten', { skip: BY_NIGHT }, async (t) => {
    const { page, errors } = await visit(t, browser, live, `#key=${live.key}&buoy=anglet&days=2`)
    await page.locator('.plot canvas').first().waitFor()
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    writeWorld(folder, now + 3 * HALF_HOUR_S)
    const held: { [name: string]: number }[] = []
    for (let swap = 1; swap <= 60; swap++) {
      const time = Math.floor(now / HALF_HOUR_S + 3) * HALF_HOUR_S + 20 * swap
      appendFileSync(join(folder, 'readings', 'all.csv'), `Coast,A1,${time},1.6,2.5,8.5,270\n`)
      await build()
      const shown = new Date(time * 1000).toISOString().replace('.000', '')
      await untilInPage(page, `document.querySelector('.latest time.ago').dateTime === '${shown}'`)
      if (swap % 50 !== 10) continue
      // Else it would hold what is no longer needed.
      await session.send('HeapProfiler.collectGarbage')
      const { metrics } = await session.send('Performance.getMetrics')
      held.push(Object.fromEntries(metrics.map(({ name, value }) => [name, value])))
    }
    const [early, late] = held
    for (const [name, share] of Object.entries({ JSHeapUsedSize: 1.1, Nodes: 1.05, JSEventListeners: 1.05 }))
      assert.ok(late[name] <= share * early[name], `${name}: ${early[name]}, then ${late[name]}`)
    assert.deepEqual(errors, [])
  })

  await t.test('says that the server is away, and that it is back with newer data', async (t) => {
    const { page } = await visit(t, browser, live, `#key=${live.key}&buoy=anglet`, {}, NO_MAP)
    await takeForCurrent(page)
    await dot(page, 'live')
    assert.equal(await page.locator('#live').textContent(), 'Live')
    const age = page.locator('.latest time.ago')
    const old = await age.getAttribute('datetime')
    await live.stop()
    await dot(page, 'lost')
    await page.locator('#live').getByText('Reconnecting').waitFor()
    await page.locator('#announcer').getByText('connection to the server is lost').waitFor()
    assert.equal(await age.getAttribute('datetime'), old, 'what was there stays')
    await publish(now + 6 * HALF_HOUR_S)
    await startLive(t, {
      snapshots: live.snapshots,
      args: [...args, `--port=${live.port}`, `--keys=${live.keysFile}`],
    })
    await dot(page, 'live')
    await page.locator('#announcer').getByText('The server is back').waitFor()
    await untilInPage(page, `document.querySelector('.latest time.ago').dateTime > '${old}'`)
    assert.ok(await page.locator('#banner').isHidden(), 'nothing is wrong any more')
  })
})
