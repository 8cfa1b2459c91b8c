/** Charts read by finger and by keyboard, and units that a visitor chooses and shares. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import type { Live } from '../live.ts'
import { atNight, faults, NO_MAP, PHONE, untilInPage, visit } from './browser.ts'
import { Fingers } from './touch.ts'

/** After this a tap is no second one. */
const DOUBLE_TAP_MS = 400

/** Time and significant height in the legend of the first chart; the height is '' while nothing is read. */
async function readOff(page: Page): Promise<{ time: string; height: string }> {
  const [time = '', height = ''] = await page.locator('.u-legend').first().locator('.u-value').allInnerTexts()
  return { time, height }
}

/** The hours that the first chart shows. */
async function hoursShown(page: Page): Promise<number> {
  const [low = 0, high = 0] = String(await page.locator('.uplot').first().getAttribute('data-range'))
    .split('/')
    .map(Number)
  return (high - low) / 3600
}

const HOUR_MS = 3_600_000

export async function testCharts(t: TestContext, browser: Browser, live: Live): Promise<void> {
  await t.test(
    'a stranger with a phone and no key finds a buoy, reads, zooms and scrolls its chart by touch, and saves it',
    async (t) => {
      const { page, errors } = await visit(t, browser, live, '', PHONE, NO_MAP)
      const fingers = await Fingers.on(page)
      await page.locator('#query').tap()
      await page.keyboard.type('angl')
      await page.getByRole('option', { name: /Anglet/ }).tap()
      await page.locator('#handle').tap()
      const chart = page.locator('.u-over').first()
      await chart.waitFor()
      await untilInPage(page, 'document.getAnimations().length === 0')
      assert.match((await readOff(page)).time, /^Tap or drag to read, pinch or double-tap/)
      // Forecast and tide may still be on their way and draw the panel anew.
      await page.locator('.facts').waitFor()
      await chart.scrollIntoViewIfNeeded()
      const box = (await chart.boundingBox())!
      const at = (share: number, down = 0.5) => ({
        x: box.x + box.width * share,
        y: box.y + box.height * down,
      })

      await fingers.tap(at(0.3))
      const first = await readOff(page)
      assert.match(first.time, /^\w{3},? \d{1,2} \w{3}, \d\d:\d\d CES?T$/)
      assert.match(first.height, /^\d\.\d\d m from W 270°$/)
      await fingers.drag([at(0.3)], [at(0.5)])
      const second = await readOff(page)
      assert.notEqual(second.time, first.time)
      assert.match(second.height, /^\d\.\d\d m from W 270°$/)
      assert.ok(
        Number.isNaN(await hoursShown(page)) || (await hoursShown(page)) > 200,
        'a drag reads, it does not zoom',
      )

      await fingers.drag([at(0.4), at(0.6)], [at(0.2), at(0.8)])
      const pinched = await hoursShown(page)
      assert.ok(
        pinched > 48 && pinched < 120,
        `${pinched} hours after fingers moved to three times their distance`,
      )
      await wait(DOUBLE_TAP_MS)
      await fingers.doubleTap(at(0.5))
      assert.ok((await hoursShown(page)) > 200, 'a double-tap shows everything again')
      await wait(DOUBLE_TAP_MS)
      await fingers.doubleTap(at(0.5))
      assert.ok((await hoursShown(page)) < 120, 'and one more zooms')

      const before = await page.evaluate<number>(`document.querySelector('#content').scrollTop`)
      await fingers.drag([at(0.5, 0.9)], [{ x: at(0.5).x, y: box.y - 100 }])
      await untilInPage(page, `document.querySelector('#content').scrollTop > ${before + 100}`)
      await page.locator('#downloads summary').tap()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByLabel('PNG: The chart, with forecast and tide').tap(),
      ])
      assert.match(file.suggestedFilename(), /^groundswell_anglet_chart_.*\.png$/)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      assert.deepEqual(await faults(page), [])
      assert.deepEqual(errors, [])
    },
  )

  await t.test(
    'the keyboard alone reads, zooms and saves a chart, whose slider says time and values',
    async (t) => {
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
      await page.keyboard.press('+')
      await page.keyboard.press('+')
      const zoomed = await hoursShown(page)
      assert.ok(zoomed < 60, `${zoomed} hours`)
      // Beyond the edge the range moves along.
      await page.keyboard.press('Home')
      assert.ok(Math.abs((await hoursShown(page)) - zoomed) < 0.01)
      assert.notEqual(await text(), before)
      await page.keyboard.press('Escape')
      assert.ok((await hoursShown(page)) > 200)
      // A drawing anew leaves zoom, time and focus where they were.
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
      const cell = page.locator('#content table').getByText(/^\d\.\d\d$/)
      await cell.first().waitFor()
      await page.locator('#downloads summary').focus()
      await page.keyboard.press('Enter')
      await page.getByLabel('CSV: Readings of the chart').waitFor()
      await page.keyboard.press('Tab')
      const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
      assert.match(file.suggestedFilename(), /^groundswell_anglet_readings_.*\.csv$/)
      assert.deepEqual(await faults(page), [])
      assert.deepEqual(errors, [])
    },
  )

  await atNight(
    t,
    'charts share one axis of weekdays and a line of now, and name nothing that they do not draw',
    async (t) => {
      const { page, errors } = await visit(t, browser, live, 'llms.txt', {}, NO_MAP)
      // What is written into each canvas.
      await page.addInitScript(`{
      const { fillText } = CanvasRenderingContext2D.prototype
      window.written = {}
      CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
        const name = this.canvas.closest('.plot')?.dataset.name
        if (name !== undefined) (window.written[name] ??= []).push(text)
        fillText.call(this, text, ...more)
      }
    }`)
      const part = { swell_height: 1.2, swell_period: 11, swell_direction: 290, wind_wave_height: null }
      let hasParts = false
      await page.route('**/v2/buoys/anglet**', async (route) => {
        const answer = await route.fetch()
        const body = (await answer.json()) as {
          data: { time?: string[]; buoy: { last_reading?: object } }
        }
        const { time, buoy } = body.data
        if (hasParts && time === undefined) Object.assign(buoy.last_reading!, part)
        for (const [name, value] of Object.entries(hasParts && time !== undefined ? part : {})) {
          Object.assign(body.data, { [name]: time!.map(() => value) })
        }
        await route.fulfill({ response: answer, json: body })
      })
      const legends = async (): Promise<string[][]> => {
        await page.goto(`http://127.0.0.1:${live.port}/#key=${live.key}&buoy=anglet`)
        await page.reload()
        await page.locator('.plot').nth(3).waitFor()
        return page.evaluate(`[...document.querySelectorAll('.u-legend')].map((legend) =>
          [...legend.querySelectorAll('button:not(.behind *)')].map((button) => button.textContent))`)
      }
      const heights = ['Significant', 'Maximum', 'Forecast']
      const others = [['Period', 'Forecast'], ['Forecast'], ['Tide']]
      assert.deepEqual(await legends(), [heights, ...others])
      const written = await page.evaluate<{ [plot: string]: string[] }>('window.written')
      const plotsWith = (text: RegExp): string[] =>
        Object.keys(written).filter((name) => written[name].some((each) => text.test(each)))
      assert.deepEqual(plotsWith(/^Now$/), ['Heights'])
      assert.deepEqual(plotsWith(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/), ['Tide'])
      assert.equal(await page.locator('.part').count(), 0)
      assert.deepEqual(await page.locator('.figures dt').allInnerTexts(), ['Maximum', 'Period', 'From'])
      hasParts = true
      assert.deepEqual(await legends(), [
        ['Significant', 'Maximum', 'Forecast', 'Swell'],
        ['Period', 'Forecast', 'Swell'],
        ...others.slice(1),
      ])
      assert.match(
        (await page.locator('.part').innerText()).replaceAll(/\s+/g, ' '),
        /^Swell 1\.20 m 11\.0 s from WNW 290°$/,
      )
      assert.deepEqual(errors, [])
    },
  )

  await t.test(
    'feet are kept, go with the address, and win elsewhere without being kept there',
    async (t) => {
      const { page, origin } = await visit(t, browser, live, `#key=${live.key}&buoy=anglet`, {}, NO_MAP)
      await page.locator('.hero').getByText(' m').waitFor()
      const metres = Number(await page.locator('.hero strong').textContent())
      await page.locator('#tool-units').focus()
      await page.keyboard.press('Enter')
      await page.getByRole('radio', { name: 'Metres' }).focus()
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Escape')
      await page.locator('.hero').getByText(' ft').waitFor()
      const feet = Number(await page.locator('.hero strong').textContent())
      assert.ok(Math.abs(feet - metres / 0.3048) < 0.07, `${metres} m and ${feet} ft`)
      assert.match(page.url(), /units=ft,kn,c/)
      assert.match(await page.locator('#legend').innerText(), /height, ft/)
      await page.getByText('Readings as a table').click()
      assert.match(await page.locator('thead').innerText(), /Height ft/)
      const shared = page.url().slice(origin.length)
      await page.goto(`${origin}#key=${live.key}`)
      await page.reload()
      await page.locator('#row-anglet .row-height').getByText('ft').waitFor()

      const other = await visit(t, browser, live, `${shared}&key=${live.key}`, { locale: 'de-DE' }, NO_MAP)
      await other.page.locator('.hero').getByText(' ft').waitFor()
      assert.equal(await other.page.locator('.hero strong').textContent(), feet.toFixed(1))
      assert.equal(await other.page.evaluate(`localStorage.getItem('groundswell-units')`), null)
      await other.page.locator('#tool-units').click()
      await other.page.getByRole('button', { name: 'Use mine' }).click()
      await other.page.locator('.hero').getByText(' m').waitFor()
      assert.ok(!other.page.url().includes('units='))
    },
  )

  await t.test(
    'favourites come first, without a storage too, and a narrow page holds garbage in its address',
    async (t) => {
      const narrow = { viewport: { width: 320, height: 640 } }
      const { page, errors } = await visit(t, browser, live, 'llms.txt', narrow, NO_MAP)
      await page.addInitScript(`Object.defineProperty(window, 'localStorage', {
      get() { throw new DOMException('blocked', 'SecurityError') },
    })`)
      await page.goto(`http://127.0.0.1:${live.port}/#key=${live.key}&units=parsec,<script>,ft&buoy=anglet`)
      await page.locator('.hero').getByText(' ft').waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
      await page.locator('#handle').click()
      const star = page.getByRole('button', { name: 'Favourite' })
      await star.focus()
      await page.keyboard.press('Enter')
      await page.locator('#star[aria-pressed=true]').waitFor()
      await page.locator('#back').focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Favourites' }).waitFor()
      assert.match(await page.locator('.favourites li').first().innerText(), /Anglet/)
      assert.deepEqual(errors, [])
    },
  )

  await atNight(
    t,
    'times are the server’s where the visitor’s clock is wrong, and another tab changes units and theme in place',
    async (t) => {
      // As a laptop that is enlarged to twice the size.
      const enlarged = { viewport: { width: 640, height: 400 } }
      const { page, origin, errors } = await visit(t, browser, live, 'llms.txt', enlarged)
      const other = await page.context().newPage()
      await other.goto(`${origin}llms.txt`)
      await page.clock.setFixedTime(Date.now() + 7 * HOUR_MS)
      await page.goto(`${origin}#key=${live.key}`)
      await page.locator('#map[data-drawn]:not([data-drawn="0"])').waitFor({ state: 'attached' })
      assert.match(await page.locator('#row-anglet time').innerText(), /^\d+ min ago$/)
      await page.locator('#row-anglet').click()
      await page.locator('.facts').waitFor()
      assert.equal(await page.locator('.age.old').count(), 0)
      await page.evaluate(`document.getElementById('content').scrollTop = 200`)
      await page.getByRole('radio', { name: 'Seasons' }).focus()
      const sight = '[document.getElementById("content").scrollTop, document.activeElement.value]'
      const before = await page.evaluate(sight)
      await other.evaluate(`localStorage.setItem('groundswell-units', 'ft,kn,c')`)
      await page.locator('.hero').getByText(' ft').waitFor()
      await other.evaluate(`localStorage.setItem('groundswell-theme', 'dark')`)
      await page.locator('html[data-theme=dark]').waitFor()
      assert.deepEqual(await page.evaluate(sight), before)

      await page.emulateMedia({ media: 'print' })
      const [paper, panel] = await page.evaluate<[number, number]>(
        '[document.documentElement.scrollHeight, document.getElementById("content").scrollHeight]',
      )
      assert.ok(paper >= panel && panel > 400, `the panel has ${panel} pixels, the paper ${paper}`)
      assert.ok(await page.locator('#map').isHidden())
      assert.deepEqual(errors, [])
    },
  )
}
