/** Charts read by finger and by keyboard, and units that a visitor chooses and shares. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { Client, type Live } from '../live.ts'
import { faults, NO_MAP, PHONE, SCRIPT_NAME, untilInPage, visit } from './browser.ts'

/** Time and significant height in the legend of the first chart; the height is '' while nothing is read. */
async function readOff(page: Page): Promise<{ time: string; height: string }> {
  const [time = '', height = ''] = await page.locator('.u-legend').first().locator('.u-value').allInnerTexts()
  return { time, height }
}

/** A finger by Chromium's debugging protocol: real touches, with what the browser makes of them. */
async function fingerOn(page: Page) {
  const session = await page.context().newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints })
  return async (from: { x: number; y: number }, to = from): Promise<void> => {
    await send('touchStart', from)
    const [right, down] = [to.x - from.x, to.y - from.y]
    for (let step = 1; step <= 6; step++)
      await send('touchMove', { x: from.x + (right * step) / 6, y: from.y + (down * step) / 6 })
    await send('touchEnd')
  }
}

const HOUR_MS = 3_600_000

export async function testCharts(t: TestContext, browser: Browser, live: Live): Promise<void> {
  await t.test('by touch a stranger finds a buoy, reads its chart and scrolls past it', async (t) => {
    const { page, errors } = await visit(t, browser, live, '', PHONE, NO_MAP)
    const finger = await fingerOn(page)
    await page.locator('#query').tap()
    await page.keyboard.type('angl')
    await page.getByRole('option', { name: /Anglet/ }).tap()
    await page.locator('#handle').tap()
    const chart = page.locator('.u-over').first()
    await chart.waitFor()
    await untilInPage(page, 'document.getAnimations().length === 0')
    assert.match((await readOff(page)).time, /^Tap or drag to read$/)
    // Forecast and tide may still be on their way and draw the panel anew.
    await page.locator('.facts').waitFor()
    await chart.scrollIntoViewIfNeeded()
    const box = (await chart.boundingBox())!
    const at = (share: number, down = 0.5) => ({
      x: box.x + box.width * share,
      y: box.y + box.height * down,
    })

    await finger(at(0.3))
    const first = await readOff(page)
    assert.match(first.time, /^\w{3},? \d{1,2} \w{3}, \d\d:\d\d CES?T$/)
    assert.match(first.height, /^\d\.\d\d m from W 270°$/)
    await finger(at(0.3), at(0.5))
    const second = await readOff(page)
    assert.notEqual(second.time, first.time)
    assert.match(second.height, /^\d\.\d\d m from W 270°$/)

    const before = await page.evaluate<number>(`document.querySelector('#content').scrollTop`)
    await finger(at(0.5, 0.9), { x: at(0.5).x, y: box.y - 100 })
    await untilInPage(page, `document.querySelector('#content').scrollTop > ${before + 100}`)
    assert.equal((await readOff(page)).time, second.time, 'what was read stays')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    assert.deepEqual(await faults(page), [])
    assert.deepEqual(errors, [])
  })

  await t.test('the keyboard alone reads a chart by a slider that says time and values', async (t) => {
    const { page, errors } = await visit(t, browser, live, '', {}, NO_MAP)
    await page.locator('#query').focus()
    await page.keyboard.type('angl')
    await page.getByRole('option', { name: /Anglet/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.facts').waitFor()
    const slider = page.getByRole('slider', { name: 'Time in the chart' })
    // From the days of the chart one Tab leads into it.
    await slider.waitFor()
    await page.locator('input[name=span]:checked').focus()
    await page.keyboard.press('Tab')
    const text = async (): Promise<string> => String(await slider.getAttribute('aria-valuetext'))
    const newest = await text()
    assert.match(
      newest,
      /^\w{3},? \d{1,2} \w{3}, \d\d:\d\d CES?T, Significant \d\.\d\d m from W 270°, Maximum \d\.\d\d m/,
    )
    assert.match(newest, /Period 8\.5 s/)
    await page.keyboard.press('ArrowLeft')
    const before = await text()
    assert.notEqual(before, newest)
    assert.match((await readOff(page)).height, /^\d\.\d\d m from W 270°$/)
    await page.keyboard.press('Home')
    assert.notEqual(await text(), before)
    // A drawing anew leaves time and focus where they were.
    await page.keyboard.press('PageUp')
    // Half way between two hours either one's level is the nearest.
    const withoutTide = async (): Promise<string> => (await text()).replace(/, Tide [^,]*/, '')
    const kept = await withoutTide()
    await page.evaluate(`document.querySelector('#tool-moon, #tool-sun').click()`)
    await slider.waitFor()
    assert.equal(await withoutTide(), kept)
    assert.equal(await page.evaluate('document.activeElement.id'), 'chart-cursor')
    await page.getByText('Readings as a table').focus()
    await page.keyboard.press('Enter')
    await page
      .locator('#content table')
      .getByText(/^\d\.\d\d$/)
      .first()
      .waitFor()
    assert.deepEqual(await faults(page), [])
    assert.deepEqual(errors, [])
  })

  await t.test('a drag with the mouse, or dates, choose the time of a chart', async (t) => {
    const { page, errors } = await visit(t, browser, live, `#key=${live.key}&buoy=anglet`, {}, NO_MAP)
    const over = page.locator('.u-over').first()
    await page.locator('.facts').waitFor()
    await over.scrollIntoViewIfNeeded()
    const box = (await over.boundingBox())!
    await page.mouse.move(box.x + box.width * 0.2, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=.*&to=/)
    const chosen = /from=(\S{17})&to=(\S{17})/.exec(page.url())!
    const hours = (Date.parse(chosen[2]) - Date.parse(chosen[1])) / HOUR_MS
    // A chart of a week and three days.
    assert.ok(Math.abs(hours - 0.3 * 240) < 4, `${hours} hours`)
    assert.ok(await page.getByRole('radio', { name: 'Dates' }).isChecked())
    await page.getByRole('slider', { name: 'Time in the chart' }).waitFor()
    await page.getByLabel('First day').fill('2020-01-01')
    await page.getByLabel('Last day').fill('2020-01-05')
    await page.getByText('No readings in this period.').waitFor()
    await page.getByRole('radio', { name: '2 days' }).check()
    await page.locator('.plot canvas').nth(2).waitFor()
    assert.match(page.url(), /&days=2$/)
    // A year has days by the buoy's clock: their means and extremes, those of the API.
    await page.getByRole('radio', { name: 'Year' }).check()
    await page.getByText('Line: mean of the day; band: least to greatest').waitFor()
    await page.getByText('Days as a table').click()
    type Heights = { significient_height: number; maximum_height: number }
    const daysBy = async (aggregation: string): Promise<Heights[]> => {
      const asked = `bucket=1d&aggregation=${aggregation}&start_date=now-70d&timezone=Europe/Paris`
      const { text } = await new Client(live).get(`/buoys/anglet/readings?${asked}`)
      return (JSON.parse(text) as { data: { buckets: Heights[] } }).data.buckets
    }
    const [mean, least, greatest] = [await daysBy('mean'), await daysBy('min'), await daysBy('max')]
    const shown = async (column: number): Promise<number[]> => {
      const cells = await page.locator(`#table td:nth-child(${column})`).allInnerTexts()
      // The day that goes on may have more readings in one of the answers.
      return cells.slice(1, 11).map(Number)
    }
    const of = (days: Heights[], name: keyof Heights): number[] => days.slice(1, 11).map((day) => day[name])
    assert.ok(mean.length > 10)
    assert.deepEqual(await shown(2), of(mean, 'significient_height'))
    assert.deepEqual(await shown(3), of(least, 'significient_height'))
    assert.deepEqual(await shown(4), of(greatest, 'significient_height'))
    assert.deepEqual(await shown(5), of(greatest, 'maximum_height'), 'no mean of maxima')
    // The pointer reads a day, not a minute.
    await over.hover({ position: { x: 200, y: 60 } })
    assert.match((await readOff(page)).time, /^\w{3},? \d{1,2} \w+( \d{4})?, mean of the day$/)
    await page.goto(`http://127.0.0.1:${live.port}/#buoy=anglet&from=0001-01-01&to=9999-12-31`)
    await page.getByText('The server has no data for this selection.').waitFor()
    assert.equal(await page.locator('figure').count(), 0)
    errors.splice(0, errors.length, ...errors.filter((error) => !/ 4(00|22) /.test(error)))
    assert.deepEqual(errors, [])
  })

  await t.test('two buoys stand in one chart, with names that contain markup as text', async (t) => {
    const { page, errors } = await visit(t, browser, live, `#key=${live.key}&buoy=anglet`, {}, NO_MAP)
    await page.locator('#beside').selectOption({ label: SCRIPT_NAME })
    await page.getByRole('button', { name: SCRIPT_NAME }).first().waitFor()
    await page
      .locator('.u-over')
      .first()
      .hover({ position: { x: 80, y: 60 } })
    const legend = page.locator('.u-legend').first().locator('.u-series')
    const valueOf = async (name: string): Promise<number> =>
      Number.parseFloat(await legend.filter({ hasText: name }).locator('.u-value').innerText())
    // Both follow the same waves; the level of the second one is 1.8 m higher.
    assert.ok(Math.abs((await valueOf(SCRIPT_NAME)) - (await valueOf('Significant')) - 1.8) < 0.011)
    assert.match(page.url(), /&beside=/)
    assert.equal(await page.title(), 'Anglet · groundswell')
    assert.deepEqual(errors, [])
  })

  await t.test('one button shares link, page and card, which fits its frame', async (t) => {
    const path = `#key=${live.key}&buoy=anglet&days=2&map=5/44/-2`
    const { page, origin, errors } = await visit(t, browser, live, path, {}, NO_MAP)
    await page.locator('#tool-share').focus()
    await page.keyboard.press('Enter')
    await page.locator('#share-dialog pre').nth(2).waitFor()
    const [link, frame, card] = await page.locator('#share-dialog pre').allInnerTexts()
    assert.equal(link, `${origin}#buoy=anglet&days=2`)
    assert.equal(/src="([^"]+)"/.exec(frame)![1], `${origin}embed/anglet`)
    assert.match(card, /width="320" height="200"/)
    const height = await page.locator('.hero strong').textContent()
    await page.setViewportSize({ width: 320, height: 200 })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(/src="([^"]+)"/.exec(card)![1])
    await page.locator('.card .spark').waitFor()
    assert.equal(await page.locator('.card .hero strong').textContent(), `${height} m`)
    const text = await page.locator('#content').innerText()
    assert.match(text, /^Anglet\s+\d\.\d\d m\s+8\.5 s\s+from W 270°\s+\d+ min ago/)
    const ends = await page.evaluate<number[]>(
      `[...document.querySelectorAll('#content > *, .card > *')].map((part) => part.getBoundingClientRect().bottom)`,
    )
    assert.ok(Math.max(...ends) <= 200, ends.join())
    assert.ok(!asked.some((address) => /map-|readings-/.test(address)), 'no map and no charts')
    assert.deepEqual(await faults(page), [])
    assert.deepEqual(errors, [])
  })

  await t.test('a place has three days of waves, wind and tide, and is kept as a favourite', async (t) => {
    const { page, errors } = await visit(t, browser, live, `#key=${live.key}&lat=43.6&lng=-1.8`, {}, NO_MAP)
    await page.locator('.plot canvas').nth(3).waitFor()
    const plots = await page.evaluate(
      `[...document.querySelectorAll('.plot')].map((plot) => plot.dataset.name)`,
    )
    assert.deepEqual(plots, ['Heights', 'Periods', 'Wind', 'Tide'])
    const { text } = await new Client(live).get('/forecast?lat=43.6&lng=-1.8')
    const { data } = JSON.parse(text) as { data: { waves_height: number[]; tides: { height: number }[] } }
    await page.locator('#table summary').click()
    const shown = await page.locator('#table td:nth-child(2)').allInnerTexts()
    assert.deepEqual(
      shown.map(Number),
      data.waves_height.filter((height) => height !== null),
    )
    const turns = await page.locator('.turns').innerText()
    for (const { height } of data.tides) assert.ok(turns.includes(`${height.toFixed(2)} m at`), turns)
    await page.locator('#star').click()
    await page.locator('#back').click()
    const row = page.locator('.favourites a')
    assert.match(await row.innerText(), /^Sea at 43\.60°.N, 1\.80°.W\s+Forecast and tide/)
    await row.click()
    await page.waitForURL(/lat=43\.6&lng=-1\.8/)
    await page.goto(`http://127.0.0.1:${live.port}/#lat=0&lng=-30`)
    await page.getByText('No forecast or tide is available near this point.').waitFor()
    assert.equal(await page.locator('figure, .plot').count(), 0, 'no empty charts')
    assert.deepEqual(errors, [])
  })
}
