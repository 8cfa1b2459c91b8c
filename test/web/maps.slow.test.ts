/** The explorer's map in a real browser: what it loads, where it starts, what a click on the sea does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { missingBrowser } from '../programs.ts'
import { BY_NIGHT } from '../rounds.ts'
import { until } from '../until.ts'
import { testOpen } from './anonymous-access.ts'
import { testCharts } from './charts.ts'
import {
  dotsOf,
  drawn,
  faults,
  openBrowser,
  PHONE,
  PHYSICAL,
  serveWorld,
  type Spot,
  visit,
} from './browser.ts'

/** When the list was there, when dots were, and which files had come by then, with their bytes. */
interface Begin {
  list: number
  dots: number
  /** The longest task so far, ms. */
  longest: number
  modules: string[]
  files: { name: string; begin: number; end: number; bytes: number }[]
}

const NOTES_BEGIN = `
  window.begin = { list: Infinity, longest: 0 }
  new MutationObserver(() => {
    if (document.querySelector('#content .buoys a')) window.begin.list = Math.min(window.begin.list, performance.now())
  }).observe(document, { childList: true, subtree: true })
  new PerformanceObserver((tasks) => {
    window.begin.longest = Math.max(window.begin.longest, ...tasks.getEntries().map(({ duration }) => duration))
  }).observe({ type: 'longtask', buffered: true })`

const beginOf = (page: Page): Promise<Begin> =>
  page.evaluate(`({
    ...window.begin,
    dots: performance.getEntriesByName('dots')[0].startTime,
    modules: document.getElementById('map').dataset.modules.split(' '),
    files: ['resource', 'navigation'].flatMap((type) => performance.getEntriesByType(type)).map((file) => ({
      name: file.name, begin: file.startTime, end: file.responseEnd, bytes: file.encodedBodySize,
    })),
  })`)

/** A phone on a mobile network. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const bytes = 1_600_000 / 8
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: bytes,
    uploadThroughput: bytes,
  })
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
}

test('The map and the charts', { skip: missingBrowser() }, async (t) => {
  const [browser, live] = await Promise.all([openBrowser(t), serveWorld(t)])
  await t.test('charts and units', (t) => testCharts(t, browser, live))
  await t.test('what a page of another origin gets', { skip: BY_NIGHT }, (t) => testOpen(t, browser, live))

  await t.test(
    'come after the list and a picture whose dots are where those of the map will be',
    async (t) => {
      const { page, origin, errors } = await visit(t, browser, live, 'llms.txt', PHONE)
      await slowDown(page)
      await page.addInitScript(NOTES_BEGIN)
      let go = (): void => undefined
      const isTime = new Promise<void>((resolve) => (go = resolve))
      await page.route(/\/assets\/map-[0-9A-Z]+\.js$/, async (route) => {
        await isTime
        await route.continue()
      })
      await page.goto(`${origin}#key=${live.key}`)
      await page.locator('.still').waitFor()
      const { list, dots, modules, files } = await beginOf(page)
      assert.ok(list <= dots, `the list came at ${list}, dots at ${dots}`)
      const early = files.filter(({ end }) => end <= dots)
      assert.ok(early.some(({ name }) => /basemap-[^/]*$/.test(name)))
      const isLate = (name: string): boolean =>
        modules.some((each) => name.endsWith(each)) || /worker/.test(name)
      assert.ok(modules.length >= 2)
      assert.deepEqual(
        files.filter(({ name, begin }) => isLate(name) && begin < dots),
        [],
      )
      const bytes = early.reduce((sum, file) => sum + file.bytes, 0)
      assert.ok(bytes > 60_000 && bytes < 115_000, `${bytes} bytes before the first dots`)
      const seen = await dotsOf(page, 7)
      assert.ok(seen.filter((spot) => spot !== null).length >= 3, JSON.stringify(seen))
      go()
      await drawn(page, PHYSICAL)
      await page.locator('.still').waitFor({ state: 'detached' })
      const { longest } = await beginOf(page)
      t.diagnostic(
        `list ${list.toFixed()} ms, dots ${dots.toFixed()} ms, longest task ${longest.toFixed()} ms`,
      )
      for (const [i, spot] of (await dotsOf(page, 7)).entries()) {
        assert.equal(spot === null, seen[i] === null, `colour ${i}`)
        if (spot === null) continue
        const away = Math.hypot(spot.x - seen[i]!.x, spot.y - seen[i]!.y)
        assert.ok(away < 1.5, `colour ${i} jumps ${away} pixels`)
      }
      assert.deepEqual(errors, [])
    },
  )

  await t.test('leave the picture, and say why, where a browser has no WebGL', async (t) => {
    const { page, origin } = await visit(t, browser, live, 'llms.txt')
    await page.addInitScript(`(() => {
      const { getContext } = HTMLCanvasElement.prototype
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        return /webgl/.test(kind) ? null : getContext.call(this, kind, ...more)
      }
    })()`)
    await page.goto(`${origin}#key=${live.key}`)
    await page.locator('#map.no-map').getByText('needs WebGL 2').waitFor()
    const spots = (await dotsOf(page, 7)).filter((spot): spot is Spot => spot !== null)
    assert.ok(spots.length >= 3)
    assert.deepEqual(await faults(page), [])
    const [{ x, y }] = spots
    await page.mouse.click(x, y)
    await page.locator('.hero').waitFor()
    assert.match(page.url(), /#buoy=/)
  })

  await t.test('loads of the fine coast what a near map shows', { skip: BY_NIGHT }, async (t) => {
    const { page, errors } = await visit(t, browser, live, '')
    const names: string[] = []
    page.on('request', (request) => void names.push(request.url()))
    await page.evaluate(`location.hash = 'key=${live.key}&map=3.5/45.5/-3'`)
    await drawn(page, PHYSICAL)
    assert.deepEqual(
      names.filter((name) => name.includes('/coast-')),
      [],
    )
    await page.evaluate(`location.hash = 'map=6/45.5/-3'`)
    await until(() => Promise.resolve(names.some((name) => name.includes('/coast-7-5-'))))
    const coast = new Set(names.filter((name) => name.includes('/coast-')))
    assert.ok(coast.size <= 4, [...coast].join())
    await drawn(page, PHYSICAL)
    assert.deepEqual(errors, [])
  })

  await t.test('shows the nearest buoy of a click on the sea', async (t) => {
    const { page } = await visit(t, browser, live, `#key=${live.key}&map=2/30/-35`)
    await drawn(page, PHYSICAL)
    // The middle of the Atlantic.
    await page.locator('#map canvas').click()
    await page.getByRole('heading', { name: /^Sea at/ }).waitFor()
    await page
      .getByText(/No forecast|Tide|Swell/)
      .first()
      .waitFor()
    await page.getByText('No buoy within 500 km').waitFor()
    assert.match(page.url(), /#map=2\/30\/-35&lat=[\d.]+&lng=-[\d.]+$/, 'the map did not move')

    await page.evaluate(`location.hash = 'lat=42&lng=-6'`)
    await page
      .getByText(/km away/)
      .first()
      .waitFor()
    await page.getByText('No forecast or tide is available near this point').waitFor()
    await page.locator('#content .buoys a').first().click()
    await page.locator('.hero').waitFor()
  })
})
