/** The explorer's map in a real browser: what it loads, where it starts, what a click on the sea does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { missingBrowser } from '../programs.ts'
import { until } from '../until.ts'
import { testOpen } from './anonymous-access.ts'
import { testCharts } from './charts.ts'
import { drawn, openBrowser, PHYSICAL, serveWorld, visit } from './browser.ts'

/** Names of the files below `assets/` that the page asks for from here on. */
function assetsOf(page: Page): string[] {
  const names: string[] = []
  page.on('request', (request) => {
    const [, name] = /\/assets\/(.+)$/.exec(request.url()) ?? []
    if (name !== undefined) names.push(name)
  })
  return names
}

/** Buoys that the test adds at the other side of the world. */
const FAR = [
  ['Point Reyes', 37.9, -123.5],
  ['Monterey', 36.8, -122.4],
  ['Half Moon Bay', 37.4, -122.8],
] as const

/** The map's answer has the buoys of `FAR` as well, in a time zone of their own. */
async function addFarBuoys(page: Page): Promise<void> {
  await page.route('**/v2/buoys/map', async (route) => {
    const answer = await route.fetch()
    // The page may know the answer already, or the server be busy.
    if (!answer.ok()) return route.fulfill({ response: answer })
    const body = (await answer.json()) as { data?: { buoys: object[] } }
    if (body.data === undefined) return route.fulfill({ response: answer })
    const [first] = body.data.buoys
    const timezone = 'America/Los_Angeles'
    body.data.buoys.push(
      ...FAR.map(([name, lat, lng], i) => ({
        ...first,
        id: 900_000 + i,
        slug: `far-${i}`,
        name,
        lat,
        lng,
        timezone,
      })),
    )
    return route.fulfill({ response: answer, json: body })
  })
}

test('The map and the charts', { skip: missingBrowser() }, async (t) => {
  const [browser, live] = await Promise.all([openBrowser(t), serveWorld(t)])
  await t.test('charts and units', (t) => testCharts(t, browser, live))
  await t.test('what a page of another origin gets', (t) => testOpen(t, browser, live))

  await t.test('loads of the fine coast what a near map shows, and nothing for a far one', async (t) => {
    const { page, errors } = await visit(t, browser, live, '')
    const names = assetsOf(page)
    await page.evaluate(`location.hash = 'key=${live.key}&map=3.5/45.5/-3'`)
    await drawn(page, PHYSICAL)
    assert.deepEqual(
      names.filter((name) => /coast/.test(name)),
      [],
    )
    await page.evaluate(`location.hash = 'map=6/45.5/-3'`)
    await until(() => Promise.resolve(names.some((name) => name.startsWith('coast-7-5-'))))
    const coast = new Set(names.filter((name) => name.startsWith('coast-')))
    assert.ok(coast.size <= 4, [...coast].join())
    await drawn(page, PHYSICAL)
    assert.deepEqual(errors, [])
  })

  await t.test('shows all buoys on a wide screen, and the nearest one of a click on the sea', async (t) => {
    const { page } = await visit(t, browser, live, '', { timezoneId: 'Europe/Paris' })
    await addFarBuoys(page)
    await page.evaluate(`location.hash = 'key=${live.key}'`)
    await drawn(page, PHYSICAL + FAR.length)
    const { width, height } = (await page.locator('#map canvas').boundingBox())!
    // Between the two groups of buoys, and south of both: the Atlantic or the Caribbean.
    await page.locator('#map canvas').click({ position: { x: width * 0.62, y: height * 0.6 } })
    await page.getByRole('heading', { name: /^Sea at/ }).waitFor()
    await page
      .getByText(/No forecast|Tide|Swell/)
      .first()
      .waitFor()
    await page.getByText('No buoy within 500 km').waitFor()
    assert.match(page.url(), /#lat=[\d.]+&lng=-[\d.]+$/, 'the map did not move')

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
