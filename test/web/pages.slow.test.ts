/** The explorer in a real browser, over a real server: what a visitor sees, presses and copies. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Client, runCliWell } from '../live.ts'
import { missingBrowser } from '../programs.ts'
import { testKeyed } from './anonymous-access.ts'
import { ACTIVE, drawn, faults, NO_MAP, openBrowser, PHONE, PHYSICAL, serveWorld, visit } from './browser.ts'
import { rounds } from '../rounds.ts'
import { until } from '../until.ts'

const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] }

test('The explorer', { skip: missingBrowser() }, async (t) => {
  const [browser, live] = await Promise.all([openBrowser(t), serveWorld(t)])
  await t.test('where it asks for a key', (t) => testKeyed(t, browser, live))

  await t.test('shows all buoys by less than 400 KB from this server, by a strict policy', async (t) => {
    const { page, origin, errors, foreign } = await visit(t, browser, live, `#key=${live.key}`)
    await drawn(page, PHYSICAL)
    const client = new Client(live, null)
    const reply = await client.getAbsolute('/')
    const policy = String(reply.headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'(;|$)/)
    assert.doesNotMatch(policy, /unsafe/)
    const sizes = await page.evaluate<[string, number][]>(
      `performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
          .map(({ name, encodedBodySize }) => [name, encodedBodySize])`,
    )
    const total = [...new Map(sizes).values()].reduce((sum, size) => sum + size, 0)
    const assets = sizes.filter(([name]) => name.startsWith(`${origin}assets/`))
    assert.ok(assets.length >= 5, 'assets were loaded')
    // The page's own requests do not include the worker's file.
    assert.ok(total > 200_000 && total < 400_000, `the first view took ${total} bytes`)
    for (const [name] of assets) {
      const asset = await client.getAbsolute(name.slice(origin.length - 1))
      assert.match(String(asset.headers['cache-control']), /max-age=31536000, immutable/, name)
    }
    assert.equal(await page.locator('#content .buoys a').count(), PHYSICAL)
    await page
      .locator('#content .spark')
      .nth(PHYSICAL - 1)
      .waitFor()
    await page.locator('#tool-satellite').click()
    await drawn(page, ACTIVE)
    assert.equal(await page.locator('#content .buoys a').count(), ACTIVE)
    assert.deepEqual(foreign, [])
    assert.deepEqual(errors, [])
  })

  await t.test('leads from a name to a season beside another year and to a curl line', async (t) => {
    const { page, origin, errors } = await visit(t, browser, live, `#key=${live.key}`, CLIPBOARD, NO_MAP)
    await page.locator('#query').pressSequentially('angl')
    await page.getByRole('option', { name: /Anglet/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Anglet' }).waitFor()
    await page.locator('.latest').getByText('significant height').waitFor()
    // Heights with the forecast, periods, tide.
    await page.locator('.plot canvas').nth(2).waitFor()
    assert.match(
      (await page.locator('figure').getAttribute('aria-label')) ?? '',
      /from \d\.\d\d to \d\.\d\d metres/,
    )
    // The legend is empty where the forecast has no value.
    await page
      .locator('.plot .u-over')
      .first()
      .hover({ position: { x: 80, y: 60 } })
    const values = await page.locator('.u-legend').first().locator('.u-value').allInnerTexts()
    assert.match(values[1], /^\d\.\d\d m from W 270°$/)
    assert.equal(values[3], '')
    await page.getByRole('radio', { name: 'Seasons' }).check()
    await page.locator('.plot canvas').waitFor()
    const year = Number(await page.getByLabel('Compared with').inputValue())
    await page
      .getByText(new RegExp(`Over the same part of the season: .* m in ${year + 1}, .* m in ${year}`))
      .waitFor()
    await page.getByText('get it from the API').click()
    await page.getByRole('button', { name: 'Copy curl: This season over the years' }).click()
    await page
      .getByRole('button', { name: /Copied/ })
      .getByText('Copied')
      .waitFor()
    const line = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.ok(line.startsWith('curl ') && line.includes(`${origin}v2/buoys/anglet/readings/series`), line)
    const answer = execFileSync('sh', ['-c', `${line} -s`], { encoding: 'utf8', timeout: 600_000 })
    assert.match(answer, /^\{"status":"success"/)
    // The address can be shared: it has the view and not the key.
    assert.match(page.url(), /buoy=anglet&tab=seasons/)
    assert.ok(!(await page.locator('pre').last().textContent())?.includes(live.key), 'the key is not shown')
    await page.goBack()
    await page.getByRole('heading', { name: 'Buoys now' }).waitFor()
    assert.deepEqual(errors, [])
  })

  await t.test('saves what it shows as files with speaking names, and says where that fails', async (t) => {
    const { page, errors } = await visit(t, browser, live, `#key=${live.key}`, {}, NO_MAP)
    const saved = async (name: string): Promise<{ name: string; bytes: Buffer }> => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('#downloads').getByLabel(name, { exact: true }).click(),
      ])
      await page.getByText(`Saved ${file.suggestedFilename()}`).first().waitFor()
      return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) }
    }
    const linesOf = (bytes: Buffer): string[] => bytes.toString().trimEnd().split('\r\n')
    const box = page.locator('#downloads summary')
    await box.click()
    const all = await saved('CSV: All buoys')
    assert.equal(all.name, 'groundswell_buoys-map.csv')
    assert.equal(linesOf(all.bytes).length, 1 + ACTIVE)
    const readings = await saved('CSV: Their readings of 24 hours')
    assert.equal(linesOf(readings.bytes).length, 1 + PHYSICAL * 49 + 1)

    await page.locator('#row-anglet').click()
    await page.locator('.plot canvas').nth(2).waitFor()
    await box.click()
    const drawn = await saved('CSV: Readings of the chart')
    assert.match(drawn.name, /^groundswell_anglet_readings_[\d-]{10}_[\d-]{10}\.csv$/)
    assert.equal(linesOf(drawn.bytes).length, 1 + 7 * 48 + 1)
    assert.match(linesOf(drawn.bytes)[0], /significient_height.*peak_period,wind_speed/)
    const parquet = await saved('Parquet: Readings of the chart')
    assert.equal(parquet.bytes.subarray(0, 4).toString(), 'PAR1')
    assert.equal(linesOf((await saved('CSV: Forecast and tide')).bytes).length, 1 + 72)
    assert.deepEqual(errors, [])

    for (const [status, sentence] of [
      [429, /^The download failed\. This hour’s quota is used up\. It is renewed at \d\d:00 UTC\.$/],
      [503, /^The download failed\. The server cannot answer right now\./],
    ] as const) {
      await page.route('**/readings?*format=csv', (route) =>
        route.fulfill({ status, json: { error: '', message: '' } }),
      )
      await page.getByLabel('CSV: Readings of the chart').click()
      await page.locator('#download-said').getByText(sentence).waitFor()
    }
  })

  await t.test('finds places and the visitor, with their nearest buoys', async (t) => {
    const { page, origin, errors } = await visit(t, browser, live, '', {}, NO_MAP)
    await page.locator('#row-anglet').waitFor()
    await page.locator('#near-me').click()
    await page.getByText('This browser does not tell where you are.').waitFor()
    await page.context().grantPermissions(['geolocation'])
    await page.context().setGeolocation({ latitude: 46.69412, longitude: -2.31987 })
    await page.locator('#near-me').click()
    await page.getByRole('heading', { name: 'Near you' }).waitFor()
    assert.match(page.url(), /#lat=46\.69&lng=-2\.32$/, 'the place is known roughly')
    assert.match(await page.locator('.buoys a').first().innerText(), /Île d’Yeu\s+\u2068?2 km away/)
    await page.locator('#query').fill('BIARRÍTZ')
    await page.getByRole('option', { name: 'Biarritz Place in New Aquitaine, France' }).waitFor()
    await page.locator('#query').press('Enter')
    await page.getByRole('heading', { name: 'Biarritz' }).waitFor()
    await page.getByText('Socoa').waitFor()
    await page.locator('.buoys a').first().click()
    await page.getByRole('heading', { name: 'Anglet' }).waitFor()
    await page.goto(`${origin}#lat=43.48&lng=-1.56`)
    await page.getByRole('heading', { name: 'Biarritz' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sea at' }).waitFor()
    assert.deepEqual(errors, [])
  })

  await t.test('takes the key out of the address, has three clocks, and credits', async (t) => {
    const tokyo = { timezoneId: 'Asia/Tokyo' }
    const { page } = await visit(t, browser, live, `#key=${live.key}&buoy=anglet`, tokyo, NO_MAP)
    await page.getByRole('heading', { name: 'Anglet' }).waitFor()
    assert.ok(!page.url().includes(live.key), 'the address')
    assert.match(page.url(), /#(.*&)?buoy=anglet/)
    assert.equal(await page.evaluate('history.length'), 1 + 1)
    await page.reload()
    await page
      .locator('.age')
      .getByText(/significant height .* CES?T/)
      .waitFor()
    await page.getByRole('radio', { name: 'Mine' }).check()
    await page.locator('.age').getByText('Tokyo').waitFor()
    assert.match(page.url(), /zone=viewer/)
    await page.getByRole('radio', { name: 'UTC' }).check()
    await page.locator('.age').getByText('UTC').waitFor()
    await page.locator('.facts').waitFor()
    const [readings, forecast] = await page.locator('.credit').allTextContents()
    assert.equal(readings, 'Readings: <b>Coast</b> office (coast.example/terms?a=1), ours · CC BY 4.0')
    const isWhole = await page.evaluate('document.documentElement.scrollHeight === innerHeight')
    assert.ok(isWhole, 'what is hidden in the panel does not make the page itself scroll')
    const link = page.locator('.credit a')
    assert.equal(await link.getAttribute('href'), 'https://coast.example/terms?a=1')
    assert.match(forecast ?? '', /^Forecast: Bay model, run of .*\d\d:\d\d UTC$/)
    assert.match(
      (await page.locator('.facts').textContent()) ?? '',
      /Socoa · heights above chart datum · times: UTC · made up/,
    )
  })

  await t.test('has no fault that axe finds, in light, dark and forced colours', async (t) => {
    const colours = [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { colorScheme: 'light', forcedColors: 'active' },
    ] as const
    const { page } = await visit(t, browser, live, `#key=${live.key}&satellites=1`, {}, NO_MAP)
    const check = async (screen: string): Promise<void> => {
      for (const these of colours.slice(0, rounds(2, 3))) {
        await page.emulateMedia({ forcedColors: 'none', ...these })
        assert.deepEqual(await faults(page), [], `${screen}, ${JSON.stringify(these)}`)
      }
    }
    await page.locator('#row-anglet').waitFor()
    await check('the list')
    await page.locator('#row-anglet').click()
    await page.locator('.plot canvas').nth(2).waitFor()
    await page.locator('.facts').waitFor()
    await page.getByText('get it from the API').click()
    await page.getByText('Readings as a table').click()
    await check('a buoy')
    await page.getByRole('radio', { name: 'Seasons' }).check()
    await page.locator('.plot canvas').waitFor()
    await check('seasons')
    await page.locator('#tool-key').click()
    await page.getByLabel('Another key').waitFor()
    await check('the dialog of the key')
    await page.keyboard.press('Escape')
    await page.locator('#tool-units').click()
    await check('the dialog of units')
    await page.keyboard.press('Escape')
    await page.evaluate(`location.hash = 'lat=43.6&lng=-1.8'`)
    await page.locator('.facts').getByText('Waves').waitFor()
    await check('a place')
    await page.locator('#tool-share').click()
    await check('the dialog of addresses')
  })

  await t.test('fits a phone: the panel is a sheet that opens over the map', async (t) => {
    const { page, errors } = await visit(t, browser, live, `#key=${live.key}`, PHONE)
    await drawn(page, PHYSICAL)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    assert.equal(await page.locator('body').getAttribute('data-sheet'), 'peek')
    // Whose data the map is of is said on it, clear of what else lies over it.
    const boxOf = async (part: string) => (await page.locator(part).boundingBox())!
    const [credit, legend, sheet] = [await boxOf('#credit'), await boxOf('#legend'), await boxOf('#panel')]
    assert.match(await page.locator('#credit').innerText(), /GeoNames \(CC BY 4\.0\)/)
    assert.ok(
      credit.y >= legend.y + legend.height && credit.y + credit.height <= sheet.y,
      'the credit is covered',
    )
    await page.locator('#handle').tap()
    assert.equal(await page.locator('body').getAttribute('data-sheet'), 'half')
    await page.locator('#row-anglet').tap()
    await page.locator('.hero').waitFor()
    await page.locator('#handle').tap()
    assert.equal(await page.locator('body').getAttribute('data-sheet'), 'full')
    assert.deepEqual(await faults(page), [])
    assert.deepEqual(errors, [])
  })

  await t.test('says that the quota is used up and when the page goes on', async (t) => {
    const issue = ['keys', 'issue', '--keys', live.keysFile, '--owner', 'scarce', '--quota', '3', '--json']
    const { key } = JSON.parse(await runCliWell(issue)) as { key: string }
    const headers = { authorization: `Bearer ${key}` }
    await until(async () => (await fetch(`${live.base}/countries`, { headers })).ok, 'the key is not known')
    const { page } = await visit(t, browser, live, `#key=${key}`, {}, NO_MAP)
    await page.locator('#row-anglet').click()
    await page
      .locator('#banner')
      .getByText(/This hour’s 3 requests are used up\. The page continues by itself at \d\d:00/)
      .waitFor()
    await page.getByText('This hour’s quota is used up.').first().waitFor()
    assert.deepEqual(await faults(page), [])
  })
})
