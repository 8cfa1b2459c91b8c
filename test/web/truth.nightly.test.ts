/** What the explorer says is so: made-up data are marked, a swap is seen, and no view mixes two snapshots. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { stationPage } from '../../web/explorer/addresses.ts'
import { runCliWell, startLive, temporaryFolder } from '../live.ts'
import { missingBrowser } from '../programs.ts'
import { openBrowser, visit, writeWorld } from './browser.ts'

const HALF_HOUR_S = 1800

/**
 * Reads of the panel at each change of it: the newest height, and the newest of the table, which another
 * answer has.
 */
const OBSERVE = `(() => {
  window.mixed = []
  addEventListener('DOMContentLoaded', () => {
    new MutationObserver(() => {
      const [shown, age] = ['.hero strong', '.age'].map((at) => document.querySelector('#content ' + at)?.textContent)
      const row = document.querySelector('#table tbody tr')
      if (shown === undefined || row === null) return
      const height = row.querySelector('td').textContent
      const time = row.querySelector('th').textContent
      if (!height.startsWith(shown) || !age.includes(time)) window.mixed.push([shown, age, height, time])
    }).observe(document.getElementById('content'), { childList: true, subtree: true })
  })
})()`

test(
  'A page that is open through a swap shows the new reading within ten seconds, without events within a minute, and never two snapshots.',
  { skip: missingBrowser() },
  async (t) => {
    const folder = join(temporaryFolder(t), 'world')
    const now = Math.floor(Date.now() / 1000 / HALF_HOUR_S) * HALF_HOUR_S - 2 * HALF_HOUR_S
    writeWorld(folder, now)
    const live = await startLive(t, { sourceArgs: ['--source', `csv:${folder}`] })
    const browser = await openBrowser(t)
    const { page } = await visit(t, browser, live, '')
    await page.addInitScript(OBSERVE)
    // Answers of one view come at different times, some before a swap and some after it.
    await page.route('**/readings/chart*', async (route) => {
      await wait(700)
      await route.continue().catch(() => {})
    })
    await page.goto(`http://127.0.0.1:${live.port}/#buoy=anglet&key=${live.key}`)
    const newest = page.locator('#table tbody tr th').first()
    for (const [step, mostMs] of [
      [1, 10_000],
      [2, 61_000],
    ]) {
      // At last what is published is not pushed to this page: it has to look.
      if (step === 2) await page.route('**/events*', (route) => route.abort())
      await page.reload()
      await newest.waitFor({ state: 'attached' })
      const before = await newest.textContent()
      writeWorld(folder, now + step * HALF_HOUR_S)
      await runCliWell(['build', '--source', `csv:${folder}`, '--out', live.snapshots])
      const swaps = new RegExp(`(serving snapshot [^]*){${step + 1}}`)
      while (!swaps.test(live.output().stderr)) await wait(20)
      const from = performance.now()
      while ((await newest.textContent()) === before) await wait(20)
      const tookMs = performance.now() - from
      t.diagnostic(`the new reading was shown after ${(tookMs / 1000).toFixed(1)} s`)
      assert.ok(tookMs < mostMs, `${tookMs} ms`)
      assert.deepEqual(await page.evaluate('window.mixed'), [])
    }
  },
)

test(
  'Explorer and documentation have a badge while the data are made up, with a key and without one.',
  { skip: missingBrowser() },
  async (t) => {
    const live = await startLive(t, {
      sourceArgs: ['--source', 'demo:scale,buoys=3,days=2'],
      args: ['--workers=1'],
    })
    const browser = await openBrowser(t)
    for (const path of [`#key=${live.key}`, '', 'docs']) {
      const { page } = await visit(t, browser, live, path)
      await page.locator('#demo').waitFor({ state: 'visible' })
      assert.match((await page.locator('#demo').textContent()) ?? '', /Demo.*made.up/s)
    }
  },
)

test("A station's page is its network's own, and no identifier can make it lead elsewhere.", () => {
  assert.equal(stationPage('NDBC', '41001'), 'https://www.ndbc.noaa.gov/station_page.php?station=41001')
  assert.equal(stationPage('NDBC', 'FWYF1'), 'https://www.ndbc.noaa.gov/station_page.php?station=fwyf1')
  assert.equal(
    stationPage('Candhis', '06403'),
    'https://candhis.cerema.fr/_public_/campagne.php?Y2FtcD0wNjQwMw==',
  )
  for (const [source, identifier] of [
    ['NDBC', '41001&x=1'],
    ['NDBC', '"><script>'],
    ['Candhis', 'é'],
    ['Candhis', '../06403'],
    ['Somebody', '41001'],
    ['constructor', '41001'],
  ] as const) {
    assert.equal(stationPage(source, identifier), null, `${source} ${identifier}`)
  }
})
