/** The wave spectrum of a buoy in a real browser: its trains, its pictures, and the numbers of a band. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, startLive } from '../live.ts'
import { missingBrowser } from '../programs.ts'
import { NO_MAP, openBrowser, PHONE, visit } from './browser.ts'

interface Answer {
  data: {
    frequencies: number[]
    spectra: { density: number[]; trains: { height: number; period: number; direction: number }[] }[]
  }
}

test('The spectrum of a buoy', { skip: missingBrowser() }, async (t) => {
  const [browser, live] = await Promise.all([
    openBrowser(t),
    startLive(t, { sourceArgs: ['--source', 'demo'] }),
  ])
  const client = new Client(live)
  const { data } = JSON.parse((await client.get('/buoys/anglet/spectra')).text) as Answer
  const [{ trains, density }] = data.spectra
  const address = `#key=${live.key}&buoy=anglet`

  await t.test('is a tab with its trains in numbers, each where it comes from on the disc', async (t) => {
    const { page, errors } = await visit(t, browser, live, address, {}, NO_MAP)
    await page.getByRole('radio', { name: 'Spectrum' }).check()
    await page.locator('.disc svg').waitFor()
    const rows = await page.locator('.trains li').allInnerTexts()
    assert.equal(rows.length, trains.length)
    assert.match(
      rows[0],
      new RegExp(`${trains[0].period.toFixed(1)} s, from [A-Z]+ ${Math.round(trains[0].direction)}°`),
    )
    const disc = (await page.locator('.disc svg').boundingBox())!
    const mark = (await page.locator('.disc .train').first().boundingBox())!
    const x = mark.x + mark.width / 2 - disc.x - disc.width / 2
    const y = mark.y + mark.height / 2 - disc.y - disc.height / 2
    const degrees = ((Math.atan2(x, -y) * 180) / Math.PI + 360) % 360
    assert.ok(Math.abs(degrees - trains[0].direction) < 4, `${degrees} for ${trains[0].direction}`)
    // The densest cells lie below the mark of the first train.
    assert.ok((await page.locator('.disc .cells').last().getAttribute('d'))!.length > 0)
    assert.deepEqual(errors, [])
  })

  await t.test('is read by keys and by the pointer, by period and by frequency', async (t) => {
    const { page } = await visit(t, browser, live, `${address}&tab=spectrum`, {}, NO_MAP)
    await page.locator('.disc svg').waitFor()
    const reading = page.locator('#spectrum-reading')
    const textOf = (band: number): RegExp =>
      new RegExp(`${data.frequencies[band].toFixed(3)} Hz · ${density[band].toFixed(2)} m²/Hz`)
    const peak = density.indexOf(Math.max(...density))
    assert.match(await reading.innerText(), textOf(peak))
    await page.locator('#spectrum-band').focus()
    // To the right periods are longer.
    await page.keyboard.press('ArrowRight')
    assert.match(await reading.innerText(), textOf(peak - 1))
    await page.getByRole('radio', { name: 'By frequency' }).check()
    await page.locator('#spectrum-band').focus()
    await page.keyboard.press('ArrowRight')
    assert.match(await reading.innerText(), textOf(peak))
    const box = (await page.locator('svg.density').boundingBox())!
    await page.mouse.move(box.x + box.width - 1, box.y + 20)
    assert.match(await reading.innerText(), textOf(data.frequencies.length - 1))
  })

  await t.test('fits a phone in the dark, and a buoy without one has no tab', async (t) => {
    const dark = { ...PHONE, colorScheme: 'dark' } as const
    const { page } = await visit(t, browser, live, `${address}&tab=spectrum`, dark, NO_MAP)
    await page.locator('.disc svg').waitFor({ state: 'attached' })
    const [content, inner] = await page.evaluate<[number, number]>(
      `[document.querySelector('#content').scrollWidth, document.querySelector('#content').clientWidth]`,
    )
    assert.ok(content <= inner, `${content} in ${inner}`)
    const other = await visit(t, browser, live, `#key=${live.key}&buoy=les-pierres-noires`, {}, NO_MAP)
    await other.page.getByRole('radio', { name: 'Seasons' }).waitFor()
    const hasOne = await client.get('/buoys/les-pierres-noires?include=spectrum')
    const { buoy } = (JSON.parse(hasOne.text) as { data: { buoy: { spectrum: object | null } } }).data
    assert.equal(
      await other.page.getByRole('radio', { name: 'Spectrum' }).count(),
      buoy.spectrum === null ? 0 : 1,
    )
  })
})
