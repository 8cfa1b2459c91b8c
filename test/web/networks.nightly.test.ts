/**
 * The pages over networks that are unlike the demo: where buoys are drawn, and what is said of their data.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { MapBuoysAnswer } from '../../clients/typescript/groundswell.ts'
import { Client, startLive, temporaryFolder, type Live } from '../live.ts'
import { missingBrowser } from '../programs.ts'
import {
  dotsOf,
  drawn,
  NO_MAP,
  openBrowser,
  PHONE,
  type Spot,
  untilInPage,
  visit,
  writeTables,
} from './browser.ts'

interface Network {
  buoys: readonly (readonly [name: string, lat: number, lng: number])[]
  /** Heights of each buoy from its oldest reading, as the source writes them. */
  heights: (buoy: number) => readonly string[]
  /** Seconds between readings, and from the newest one to now. */
  every?: number
  age?: number
  isVirtual?: boolean
  /** A network of its own for each buoy. */
  isApart?: boolean
  /** Wind of a further station without heights, as `wind_speed` in km/h. */
  windOnly?: boolean
}

const HALF_HOUR = 1800
const DAY = 86_400

/** Serves a network from tables, to everybody. */
function serve(t: TestContext, network: Network): Promise<Live> {
  const { buoys, heights, every = HALF_HOUR, age = 0 } = network
  const { isVirtual = false, isApart = false, windOnly = false } = network
  const sourceOf = (buoy: number): string => `Own${isApart ? buoy : ''}`
  const folder = join(temporaryFolder(t), 'own')
  const newest = Math.floor((Date.now() / 1000 - age) / every) * every
  const sources = new Set(['Own', ...buoys.map((_, i) => sourceOf(i))])
  writeTables(folder, {
    sources: [
      'name,network',
      ...[...sources].map((each) => `${each},${isVirtual ? 'satellite' : 'national'}`),
    ],
    buoys: [
      'source,identifier,name,lat,lng,virtual',
      ...buoys.map(([name, lat, lng], i) => `${sourceOf(i)},B${i},${name},${lat},${lng},${isVirtual}`),
      ...(windOnly ? ['Own,W,Wind mast,54.1,-0.2,false'] : []),
    ],
    'readings/all': [
      'source,identifier,time,significant_height,period,direction,wind_speed',
      ...buoys.flatMap((_, i) =>
        heights(i).map(
          (height, at, { length }) =>
            `${sourceOf(i)},B${i},${newest - (length - 1 - at) * every},${height},9.5,270,36`,
        ),
      ),
      ...Array.from(
        { length: windOnly ? 48 : 0 },
        (_, i) => `Own,W,${newest - i * every},,,,${20 + (i % 7)}`,
      ),
    ],
  })
  return startLive(t, { sourceArgs: ['--source', `csv:${folder}`], args: ['--explorer=open'] })
}

/** Heights of seven classes, so that each dot has a colour of its own. */
const OF_CLASSES = ['0.3', '0.7', '1.2', '2.0', '3.0', '5.0', '7.0']
const ofClass = (buoy: number): string[] => [OF_CLASSES[buoy]]

/** Mercator's projection, in turns of the Earth. Longitudes west of `from` lie a turn further east. */
const projected = (lat: number, lng: number, from: number): Spot => ({
  x: (lng < from ? lng + 360 : lng) / 360,
  y: -Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI),
})

/** The zoom of a map by two spots on it. */
function zoomBy([a, b]: readonly Spot[], [one, other]: Network['buoys']): number {
  const [p, q] = [one, other].map(([, lat, lng]) => projected(lat, lng, -180))
  return Math.log2(Math.hypot(a.x - b.x, a.y - b.y) / Math.hypot(p.x - q.x, p.y - q.y) / 512)
}

/** Which of the spots lie under something, or outside the map. */
const covered = (page: Page, spots: readonly Spot[]): Promise<string[]> =>
  page.evaluate(`${JSON.stringify(spots)}.flatMap(({ x, y }) => {
    const above = document.elementFromPoint(x, y)
    return above?.closest('#map') === null || above === null ? [above?.outerHTML.slice(0, 80) ?? 'outside'] : []
  })`)

const BAY: Network['buoys'] = [
  ['Inner', 48.105, -4.37],
  ['Morgat', 48.19, -4.47],
  ['Cape A', 48.15, -4.56],
  ['Cape B', 48.15, -4.56],
]

/** Software draws the map, in a time that grows with its pixels. */
const WIDE = { viewport: { width: 1000, height: 640 } }
const UPRIGHT = { ...PHONE, viewport: { width: 390, height: 844 } }

/** A value as the page writes it, `1.39 m`, is that of the API, to its last digit. */
function isShown(text: string, value: number): boolean {
  const [, digits] = /^[^\d−-]*([−-]?[\d.]+)/.exec(text) ?? []
  const decimals = digits?.split('.')[1]?.length ?? 0
  return Math.abs(Number(digits?.replace('−', '-')) - value) <= 0.5 * 10 ** -decimals + 1e-9
}

interface Shown {
  slug: string
  height: string
  period: string
  time: string
  from: string
}

/** Compares the rows of the list, and the head of the first buoy, with the API's answer. */
async function compareNumbers(page: Page, live: Live): Promise<void> {
  const { text } = await new Client(live).get('/buoys/map')
  const { buoys } = (JSON.parse(text) as MapBuoysAnswer).data
  await untilInPage(page, `document.querySelectorAll('#content .buoys a').length === ${buoys.length}`)
  const rows = await page.evaluate<
    Shown[]
  >(`[...document.querySelectorAll('#content .buoys a')].map((row) => ({
    slug: row.id.slice(4),
    height: row.querySelector('.row-height').textContent,
    period: row.querySelector('.row-reading small').lastChild.textContent,
    time: row.querySelector('time').dateTime,
    from: row.querySelector('.row-reading .hidden').textContent,
  }))`)
  const heights: number[] = []
  for (const row of rows) {
    const { last_reading: reading } = buoys.find(({ slug }) => slug === row.slug)!
    assert.ok(reading !== null && isShown(row.height, reading.significient_height), JSON.stringify(row))
    assert.ok(isShown(row.period, reading.period!), JSON.stringify(row))
    assert.deepEqual([row.time, row.from.trim()], [reading.time, `from W ${reading.direction}°`])
    heights.push(reading.significient_height)
  }
  assert.deepEqual(
    heights,
    heights.toSorted((a, b) => b - a),
  )
  const { slug, last_reading: reading } = buoys.find((buoy) => buoy.slug === rows[0].slug)!
  await page.evaluate(`location.hash = 'buoy=${slug}&units=m,kmh,c'`)
  await page.locator('.hero strong').waitFor()
  assert.ok(isShown(await page.locator('.hero strong').innerText(), reading!.significient_height))
  assert.equal(await page.locator('.latest time.ago').first().getAttribute('datetime'), reading!.time)
  assert.match(await page.locator('.latest').innerText(), /from W/)
}

test('The pages over a network', { skip: missingBrowser() }, async (t) => {
  const browser = await openBrowser(t)

  const bay = await serve(t, { buoys: BAY, heights: ofClass })
  await t.test('of one bay fit it, with each dot at its buoy and two of one place apart', async (t) => {
    for (const size of [WIDE, UPRIGHT]) {
      const { page, errors } = await visit(t, browser, bay, '', size)
      await drawn(page, BAY.length)
      const spots = await dotsOf(page, BAY.length)
      assert.ok(!spots.includes(null), JSON.stringify(spots))
      const seen = spots as Spot[]
      assert.ok(zoomBy(seen, BAY) > 8)
      assert.ok(Math.abs(seen[2].x - seen[3].x) > 10, 'the two of the cape lie side by side')
      assert.deepEqual(await covered(page, seen), [])
      for (const each of [2, 3]) {
        const { x, y } = seen[each]
        await page.mouse.click(x + (x - seen[5 - each].x) / 2, y)
        await page.getByRole('heading', { name: BAY[each][0] }).waitFor()
      }
      assert.deepEqual(errors, [])
    }
    const { page } = await visit(t, browser, bay, '#buoy=inner', WIDE)
    await page.getByRole('heading', { name: 'Inner' }).waitFor()
    await drawn(page, BAY.length)
    assert.ok(zoomBy((await dotsOf(page, 2)) as Spot[], BAY) > 8, 'an address that names a buoy')
  })

  await t.test('write values with the decimals of their network, in charts with room', async (t) => {
    const heights = ['1.8', '1.9', '2.6', '2.4', '2.0']
    const lake = Array.from({ length: 60 }, (_, i) => (0.04 + 0.01 * Math.sin(i)).toFixed(2))
    const pier = Array.from({ length: 60 }, (_, i) => heights[i % heights.length])
    const live = await serve(t, {
      buoys: [
        ['Old pier', 54.2, -0.1],
        ['Lake', 46.42, 6.55],
      ],
      heights: (buoy) => [pier, lake][buoy],
      every: 6 * 3600,
      isApart: true,
      windOnly: true,
    })
    const { page, origin, errors } = await visit(t, browser, live, '', {}, NO_MAP)
    await page.locator('#row-old-pier .row-height').getByText('2.0 m', { exact: true }).waitFor()
    const { text } = await new Client(live).get('/buoys/old-pier/readings?per_page=48')
    const { data } = JSON.parse(text) as { data: { readings: { significient_height: number }[] } }
    const expected = data.readings.map(({ significient_height: height }) => height)
    const readTable = async (): Promise<string[]> => {
      await page.locator('.hero strong').waitFor()
      assert.equal(await page.locator('.hero strong').textContent(), '2.0', 'from the first time on')
      await page.locator('#table summary').click()
      return page.locator('#table td:nth-child(2)').allInnerTexts()
    }
    for (const address of [`${origin}#buoy=old-pier`, `${origin}embed/old-pier`]) {
      await page.goto(address)
      const shown = await readTable()
      // Six-hourly rows of a week.
      assert.ok(shown.length >= 28, `${shown.length} rows`)
      assert.deepEqual(shown.map(Number), expected.slice(0, shown.length))
      assert.deepEqual([...new Set(shown)].toSorted(), ['1.8', '1.9', '2.0', '2.4', '2.6'])
    }

    await page.goto(`${origin}#buoy=wind-mast&units=m,kmh,c`)
    await page.getByText('This buoy does not measure waves. Under “Seasons”: wind speed.').waitFor()
    await page.getByRole('radio', { name: 'Seasons' }).check()
    await page.locator('.plot canvas').waitFor()
    assert.equal(await page.getByLabel('Measure').locator('option').count(), 1)

    await page.goto(`${origin}#buoy=old-pierr`)
    await page.getByRole('heading', { name: 'No such buoy' }).waitFor()
    assert.equal(await page.getByText(/no such buoy/i).count(), 1)
    await page.getByRole('link', { name: 'old-pier' }).click()
    await page.getByRole('heading', { name: 'Old pier' }).waitFor()
    assert.deepEqual(
      errors.filter((error) => !error.includes('404')),
      [],
    )

    // Its charts have legends that are buttons, and values where there is room.
    await page.goto(`${origin}#buoy=lake&units=m,kmh,c`)
    await page.getByRole('heading', { name: 'Lake' }).waitFor()
    await page.locator('.plot canvas').nth(1).waitFor()
    const [height, wind] = await Promise.all(
      [0, 1].map((i) => page.locator('.plot').nth(i).getByRole('button').first().elementHandle()),
    )
    assert.match((await height.textContent()) ?? '', /^Significant$/)
    const pressed = (button: typeof wind): Promise<string | null> => button.getAttribute('aria-pressed')
    await wind.focus()
    await page.keyboard.press('Enter')
    assert.deepEqual([await pressed(height), await pressed(wind)], ['true', 'false'])
    await page.keyboard.press('Space')
    assert.equal(await pressed(wind), 'true')
    // The same time at the same place in each plot, and beside it room for the widest text.
    const [lefts, widest] = await page.evaluate<[number[], number]>(`(() => {
      const context = new OffscreenCanvas(10, 10).getContext('2d')
      context.font = '12px ' + getComputedStyle(document.body).fontFamily
      const lefts = [...document.querySelectorAll('.u-over')].map((over) => parseFloat(over.style.left))
      return [lefts, context.measureText('25 km/h').width]
    })()`)
    assert.equal(new Set(lefts).size, 1, lefts.join())
    assert.ok(lefts[0] > widest, `${lefts[0]} pixels for a text of ${widest}`)
  })

  await t.test('show the numbers of the API, with all of 1 and 40 buoys in view', async (t) => {
    const chile = Array.from({ length: 40 }, (_, i) => [`Boya ${i}`, -19 - 0.9 * i, -72 - 0.1 * i] as const)
    const heights = (buoy: number): string[] => [(0.3 + (buoy % 97) / 20).toFixed(2)]
    for (const [buoys, size] of [
      [[BAY[0]], UPRIGHT],
      [chile, WIDE],
      [chile, UPRIGHT],
    ] as const) {
      const live = await serve(t, { buoys, heights })
      const { page, errors } = await visit(t, browser, live, '#units=m,kmh,c', size)
      await page.locator('.still').waitFor({ state: 'detached' })
      assert.equal(await page.locator('#beyond').count(), 0)
      await drawn(page, buoys.length)
      await compareNumbers(page, live)
      assert.deepEqual(errors, [])
    }
  })

  await t.test(
    'have each dot where its buoy is, at any zoom, over 180° and far in the north too',
    async (t) => {
      const networks: Network['buoys'][] = [
        [
          ['Pier west', 32.8669, -117.2571],
          ['Pier middle', 32.8674, -117.2581],
          ['Pier east', 32.8681, -117.2569],
        ],
        [
          ['Taveuni', -16.9, 179.9995],
          ['Rabi', -16.9008, -179.9996],
        ],
        [['Longyearbyen', 78.25, 15.4]],
      ]
      for (const buoys of networks) {
        const live = await serve(t, { buoys, heights: ofClass })
        const [, lat, lng] = buoys[0]
        for (const zoom of [3, 6, 10, 14]) {
          const { page } = await visit(t, browser, live, `#map=${zoom}/${lat}/${lng}`, WIDE)
          await drawn(page, buoys.length)
          await page.locator('.still').waitFor({ state: 'detached' })
          const { x, y, width, height } = (await page.locator('#map').boundingBox())!
          const middle = projected(lat, lng, 0)
          const most = 9 * Math.min(1, (14 - zoom) / 6) + (zoom === 14 ? 1.5 : 4)
          const spots = await dotsOf(page, buoys.length)
          for (const [i, [name, ...at]] of buoys.entries()) {
            const own = projected(...at, 0)
            const spot = spots[i]
            assert.ok(spot !== null, `${name} cannot be seen at zoom ${zoom}`)
            const world = 512 * 2 ** zoom
            const away = Math.hypot(
              spot.x - x - width / 2 - (own.x - middle.x) * world,
              spot.y - y - height / 2 - (own.y - middle.y) * world,
            )
            assert.ok(away <= most, `${name} is drawn ${away} pixels from its place at zoom ${zoom}`)
          }
        }
      }
    },
  )

  const risen = (buoy: number): string[] => [...Array<string>(7).fill('0.1'), ...ofClass(buoy)]
  const old = await serve(t, { buoys: BAY, heights: risen, age: 40 * DAY })
  await t.test('whose data are 40 days old say so in place of what is not so', async (t) => {
    const { page } = await visit(t, browser, old, '', {}, NO_MAP)
    await page.locator('#content .buoys a').first().waitFor()
    const age = /Data as of \d+ \w{3}( \d{4})?, 40 days old$/
    assert.match(await page.locator('#content .sub').innerText(), age)
    await page.locator('#live').getByText(age).waitFor()
    const text = String(await page.evaluate('document.body.innerText'))
    assert.doesNotMatch(text, /last 24 hours|Live/)
    const chip = `getComputedStyle(document.querySelector('.buoys .chip')).backgroundColor`
    assert.equal(await page.evaluate(chip), 'rgba(0, 0, 0, 0)', 'hollow')
    await page.evaluate(`location.hash = 'buoy=inner'`)
    await page.locator('.age').getByText('higher by').waitFor()
    assert.doesNotMatch(await page.locator('.hero').innerText(), /rising/)
  })

  await t.test('that satellites alone measure show it', async (t) => {
    const points: Network['buoys'] = [
      ['Point 1', 10, -40],
      ['Point 2', 14, -42],
    ]
    const live = await serve(t, { buoys: points, heights: ofClass, isVirtual: true })
    const { page } = await visit(t, browser, live, '')
    await drawn(page, points.length)
    assert.equal(await page.locator('#content .buoys a').count(), points.length)
    await page.getByText('2 buoys reporting in the last 24 hours').waitFor()
    await page.locator('#legend').getByText('by satellite').waitFor()
    assert.equal(await page.getByText('No buoy has reported').count(), 0)
  })

  await t.test('that is open say at an address without https why they ask for a key', async (t) => {
    const { page } = await visit(t, browser, bay, 'llms.txt', {}, NO_MAP)
    await page.addInitScript(`Object.defineProperty(window, 'isSecureContext', { value: false })`)
    await page.route(/\/v2\/buoys\/map/, (route) =>
      route.fulfill({ status: 401, json: { error: '', message: '' } }),
    )
    await page.goto(`http://127.0.0.1:${bay.port}/`)
    await page.getByText('only at an https:// address').waitFor()
    await untilInPage(page, `document.querySelector('#invite-key') !== null`)
  })
})
