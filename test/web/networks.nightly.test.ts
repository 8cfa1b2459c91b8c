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
  /** Where waves come from; 270° without it. */
  from?: readonly number[]
  isVirtual?: boolean
  /** A network of its own for each buoy, and a further station with wind alone. */
  isApart?: boolean
}

const HALF_HOUR = 1800
const DAY = 86_400

/** Serves a network from tables, to everybody. */
function serve(t: TestContext, network: Network): Promise<Live> {
  const { buoys, heights, every = HALF_HOUR, age = 0 } = network
  const { from = [], isVirtual = false, isApart = false } = network
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
      ...(isApart ? ['Own,W,Wind mast,54.1,-0.2,false'] : []),
    ],
    'readings/all': [
      'source,identifier,time,significant_height,period,direction,wind_speed',
      ...buoys.flatMap((_, i) =>
        heights(i).map(
          (height, at, { length }) =>
            `${sourceOf(i)},B${i},${newest - (length - 1 - at) * every},${height},9.5,${from[i] ?? 270},36`,
        ),
      ),
      ...Array.from({ length: isApart ? 48 : 0 }, (_, i) => `Own,W,${newest - i * every},,,,${20 + (i % 7)}`),
    ],
  })
  return startLive(t, { sourceArgs: ['--source', `csv:${folder}`], args: ['--explorer=open'] })
}

/** Heights of seven classes, so that each dot has a colour of its own. */
const OF_CLASSES = ['0.3', '0.7', '1.2', '2.0', '3.0', '5.0', '7.0']
const ofClass = (buoy: number): string[] => [OF_CLASSES[buoy]]

/** Mercator's projection, in turns of the Earth. */
const projected = (lat: number, lng: number): Spot => ({
  x: lng / 360,
  y: -Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI),
})

const ZOOM = 'mapStyle.map.getZoom()'

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

const FAR: Network['buoys'] = [
  ['Taveuni', -16.9, 179.9995],
  ['Rabi', -16.9008, -179.9996],
  ['Longyearbyen', 78.25, 15.4],
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

async function buoysOf(live: Live, query = ''): Promise<MapBuoysAnswer['data']['buoys']> {
  const { text } = await new Client(live).get(`/buoys/map${query}`)
  return (JSON.parse(text) as MapBuoysAnswer).data.buoys
}

/** Compares the dots around the first buoy with the API's answer: each place, and each height. */
async function compareDots(page: Page, live: Live): Promise<void> {
  const buoys = (await buoysOf(live, '?active_only=false')).filter(({ virtual }) => !virtual)
  const { width, height } = (await page.locator('#map').boundingBox())!
  const [{ lat, lng }] = buoys
  // On a narrow map that is less near, dots are several in one.
  for (const zoom of width < 600 ? [10, 14] : [3, 6, 10, 14]) {
    await page.evaluate(`new Promise((resolve) => {
      mapStyle.map.once('idle', resolve)
      location.hash = 'map=${zoom}/${lat}/${lng}&units=m,kmh,c'
    })`)
    await untilInPage(page, `${ZOOM} === ${zoom} && mapStyle.map.loaded()`)
    const dots = await page.evaluate<{ slug?: string; label: string; at: [number, number] }[]>(
      `mapStyle.map.queryRenderedFeatures({ layers: ['buoys'] }).map(({ geometry, properties }) =>
        ({ ...properties, at: geometry.coordinates }))`,
    )
    /** Pixels from the middle, the shorter way around. */
    const spotOf = (at: number[]): [number, number] => {
      const [own, middle] = [projected(at[1], at[0]), projected(lat, lng)]
      const across = own.x - middle.x
      const world = 512 * 2 ** zoom
      return [(across - Math.round(across)) * world, (own.y - middle.y) * world]
    }
    const most = 9 * Math.min(1, (14 - zoom) / 6) + 0.5
    for (const { slug, last_reading: reading, ...own } of buoys) {
      const [x, y] = spotOf([own.lng, own.lat])
      if (Math.abs(x) > width / 2 - 20 || Math.abs(y) > height / 2 - 20) continue
      const dot = dots.find((each) => each.slug === slug)
      assert.ok(dot !== undefined, `${slug} cannot be seen at zoom ${zoom}`)
      const [left, top] = spotOf(dot.at)
      const away = Math.hypot(left - x, top - y)
      assert.ok(away <= most, `${slug} is drawn ${away} pixels from its place at zoom ${zoom}`)
      const said = reading === null ? dot.label === '' : isShown(dot.label, reading.significient_height)
      assert.ok(said, `${slug}: ${dot.label}`)
    }
  }
}

/** Compares the rows of the list, and the head of the first buoy, with the API's answer. */
async function compareNumbers(page: Page, live: Live): Promise<void> {
  const buoys = (await buoysOf(live)).filter(({ virtual }) => !virtual)
  if (buoys.length > 100) await page.getByRole('button', { name: `Show all ${buoys.length}` }).click()
  await untilInPage(page, `document.querySelectorAll('#content .buoys a').length === ${buoys.length}`)
  const rows = await page.evaluate<
    (Record<'slug' | 'height' | 'small' | 'time', string> & { isOld: boolean })[]
  >(`[...document.querySelectorAll('#content .buoys a')].map((row) => ({
    slug: row.id.slice(4),
    height: row.querySelector('.row-height').textContent,
    small: row.querySelector('.row-reading small').textContent.trim(),
    time: row.querySelector('time').dateTime,
    isOld: row.querySelector('.ago.old') !== null,
  }))`)
  for (const row of rows) {
    const { last_reading: reading } = buoys.find(({ slug }) => slug === row.slug)!
    assert.ok(reading !== null && isShown(row.height, reading.significient_height), JSON.stringify(row))
    const { direction, period } = reading
    const [, from, seconds] = /^(?:from \w+ (\d+)°)? *(.*)$/.exec(row.small) ?? []
    assert.ok(period == null ? seconds === '' : isShown(seconds, period), JSON.stringify(row))
    assert.ok(direction == null ? from === undefined : isShown(from, direction), JSON.stringify(row))
    assert.equal(row.time, reading.time)
  }
  const order = rows.map(({ isOld, height }) => Number.parseFloat(height) - (isOld ? 100 : 0))
  assert.deepEqual(
    order,
    order.toSorted((a, b) => b - a),
  )
  const { slug, last_reading: reading } = buoys.find((buoy) => buoy.slug === rows[0].slug)!
  await page.evaluate(`location.hash = 'buoy=${slug}&units=m,kmh,c'`)
  await page.locator('.hero strong').waitFor()
  assert.ok(isShown(await page.locator('.hero strong').innerText(), reading!.significient_height))
  assert.equal(await page.locator('.latest time.ago').first().getAttribute('datetime'), reading!.time)
  if (reading!.direction != null) assert.match(await page.locator('.latest').innerText(), /from [NESW]/)
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
      await untilInPage(page, `${ZOOM} > 8`)
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
    await untilInPage(page, `${ZOOM} > 8`)
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

  await t.test('have dots that say what the API says, where their buoys are, at any zoom', async (t) => {
    const heights = (buoy: number): string[] => [(0.3 + (buoy % 97) / 20).toFixed(2)]
    const chile = Array.from({ length: 40 }, (_, i) => [`Boya ${i}`, -19 - 0.9 * i, -72 - 0.1 * i] as const)
    const everywhere = Array.from(
      { length: 2700 },
      (_, i) => [`Buoy ${i}`, ((i * 7.3) % 140) - 65, ((i * 11.7) % 360) - 180] as const,
    )
    // Arrows where labels would lie.
    const pier: Network = {
      buoys: [
        ['Pier west', 32.8669, -117.2571],
        ['Pier middle', 32.8674, -117.2581],
        ['Pier east', 32.8681, -117.2569],
      ],
      heights: (buoy) => [['5', '2', '0.3'][buoy]],
      from: [0, 45, 135],
    }
    for (const [network, size] of [
      [pier, WIDE],
      [pier, UPRIGHT],
      [{ buoys: [BAY[0]], heights }, UPRIGHT],
      [{ buoys: chile, heights }, WIDE],
      [{ buoys: chile, heights }, UPRIGHT],
      [{ buoys: FAR, heights: ofClass }, WIDE],
      [{ buoys: everywhere, heights }, WIDE],
      [{ buoys: BAY, heights: ofClass, age: 1096 * DAY }, WIDE],
      [null, WIDE],
    ] as const) {
      const live = await (network === null
        ? startLive(t, { sourceArgs: ['--source', 'demo'], args: ['--explorer=open'] })
        : serve(t, network))
      const { page, errors } = await visit(t, browser, live, '#units=m,kmh,c', size)
      await page.locator('#map[data-drawn]').waitFor({ state: 'attached' })
      // The first view has all, but not of the world.
      if (network !== null && network.buoys.length < 100) await drawn(page, network.buoys.length)
      await compareDots(page, live)
      // Now the map is at its largest zoom.
      const labels = `mapStyle.map.queryRenderedFeatures({ layers: ['labels'] })`
      if (network === pier) await untilInPage(page, `${labels}.length === 3`)
      await compareNumbers(page, live)
      assert.deepEqual(errors, [])
    }
  })

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
