/** A real browser for the tests of pages, and a server over a small world with hostile names. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../../tools/browser.ts'
import { HEIGHT_COLORS } from '../../web/explorer/heights.ts'
import { startLive, temporaryFolder, type Live } from '../live.ts'
import { until } from '../until.ts'

/** Waits until an expression holds in the page, whose policy forbids `waitForFunction` with a text. */
export const untilInPage = (page: Page, expression: string): Promise<void> =>
  until(async () => (await page.evaluate(expression)) === true, expression)

/** Waits until the map has drawn `count` buoys. */
export const drawn = (page: Page, count: number): Promise<unknown> =>
  page.locator(`#map[data-drawn="${count}"]`).waitFor({ state: 'attached' })

/** A phone whose pages move, unlike those of other visits. */
export const PHONE = {
  viewport: { width: 390, height: 780 },
  isMobile: true,
  hasTouch: true,
  reducedMotion: 'no-preference',
} as const

/**
 * For visits that the map is not about: software draws it, which takes as long as all else that a page does.
 */
export const NO_MAP = { map: false }

/** Has the pages of a context leave the place of the map empty. */
export const leaveOutMap = (context: BrowserContext): Promise<unknown> =>
  context.route(/\/assets\/map-[0-9A-Z]+\.js$/, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: 'export const openMap = () => {}' }),
  )

export async function openBrowser(t: TestContext): Promise<Browser> {
  const browser = await launchBrowser()
  t.after(() => browser.close())
  return browser
}

export const SCRIPT_NAME = '<script>document.title="taken"</script>Bank'
export const IMAGE_NAME = '<img src=x onerror=document.title="taken">Reef'
/** Active buoys of the first view. */
export const PHYSICAL = 5
/** Active buoys, with those that satellites measure. */
export const ACTIVE = 6

const HALF_HOUR = 1800
const DAY = 86_400

/** Half-hourly readings of ten days, daily ones of two years before. `newest` in epoch seconds. */
function* readings(source: string, identifier: string, newest: number, level: number): Generator<string> {
  const times = [
    ...Array.from({ length: 790 }, (_, i) => newest - (800 - i) * DAY),
    ...Array.from({ length: 480 }, (_, i) => newest - (479 - i) * HALF_HOUR),
  ]
  for (const time of times) {
    const height = level + Math.sin(time / 40_000) * 0.4 + Math.cos((time / DAY / 365.25) * 2 * Math.PI) * 0.5
    yield `${source},${identifier},${time},${height.toFixed(2)},${(height * 1.6).toFixed(2)},8.5,270`
  }
}

/** Writes tables of a `csv:` source: lines by file, the first of which names the columns. */
export function writeTables(folder: string, tables: { readonly [file: string]: readonly string[] }): void {
  for (const name of ['readings', 'forecast']) mkdirSync(join(folder, name), { recursive: true })
  for (const [file, lines] of Object.entries(tables))
    writeFileSync(join(folder, `${file}.csv`), `${lines.join('\n')}\n`)
}

/** Writes the world as a `csv:` source. `now` in epoch seconds. */
export function writeWorld(folder: string, now: number): void {
  const newest = Math.floor(now / HALF_HOUR) * HALF_HOUR
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
  const buoys = [
    ['Coast', 'A1', 'Anglet', 43.53, -1.615, 1.6],
    ['Coast', 'A2', 'Cap Ferret', 44.65, -1.45, 2.4],
    ['Coast', 'A3', SCRIPT_NAME, 46.5, -3.2, 3.4],
    ['Coast', 'A4', IMAGE_NAME, 48.3, -5.6, 5.1],
    ['Coast', 'A5', 'Île d’Yeu', 46.7, -2.3, 0.9],
    ['Altimetry', 'V1', 'Gulf point', 45.2, -7.5, 4.2],
  ] as const
  const pass = 'sentinel-3a,120,77'
  writeTables(folder, {
    sources: [
      'name,network,credit,licence',
      'Coast,coastal,"<b>Coast</b> office (https://coast.example/terms?a=1), ours",CC BY 4.0',
      'Altimetry,satellite,,',
    ],
    buoys: [
      'source,identifier,name,lat,lng,country,timezone,virtual',
      ...buoys.map(([source, identifier, name, lat, lng]) =>
        [source, identifier, quoted(name), lat, lng, 'FR', 'Europe/Paris', source === 'Altimetry'].join(','),
      ),
    ],
    'readings/all': [
      'source,identifier,time,significant_height,maximum_height,period,direction',
      ...buoys.flatMap(([source, identifier, , , , level]) =>
        source === 'Altimetry'
          ? [`${source},${identifier},${newest - 7200},${level},,,`]
          : [...readings(source, identifier, newest, level)],
      ),
    ],
    'forecast/all': [
      'lat,lng,run,model,time,wave_height,wave_period,wave_direction,wind_speed,wind_direction',
      ...Array.from({ length: 30 }, (_, i) => {
        const time = newest + (i * 3 - 12) * 3600
        return `43.6,-1.8,${newest - 12 * 3600},Bay model,${time},${(1.5 + i / 20).toFixed(2)},9,300,22,310`
      }),
    ],
    harbours: ['identifier,name,lat,lng,datum_offset,credit', 'SOCOA,Socoa,43.395,-1.681,2.5,made up'],
    constituents: ['harbour,constituent,amplitude,phase', 'SOCOA,M2,1.3,90', 'SOCOA,S2,0.45,120'],
    passes: [
      'mission,cycle,number,started_at,ended_at,south,west,north,east',
      `${pass},${newest - 9000},${newest - 6000},20,-20,60,5`,
    ],
    pass_observations: [
      'mission,cycle,number,source,identifier,time',
      `${pass},Altimetry,V1,${newest - 7200}`,
    ],
  })
}

/** Serves the world; its newest readings are `age` seconds old. */
export async function serveWorld(
  t: TestContext,
  { age = 0, ...options }: { args?: string[]; quota?: number; age?: number } = {},
): Promise<Live> {
  const folder = join(temporaryFolder(t), 'world')
  writeWorld(folder, Date.now() / 1000 - age)
  return startLive(t, { sourceArgs: ['--source', `csv:${folder}`], ...options })
}

interface Visit {
  page: Page
  /** The address of the server, with a slash at its end. */
  origin: string
  /** Errors and warnings of the browser's console. */
  errors: string[]
  /** Addresses of other servers that the page asked for. */
  foreign: string[]
}

/**
 * Opens a page that shares nothing with others. `path` follows the origin. With `clock` the test sets the
 * time of the page; without `map` the place of the map stays empty.
 */
export async function visit(
  t: TestContext,
  browser: Browser,
  live: Live,
  path: string,
  options: BrowserContextOptions = {},
  { clock = false, map = true } = {},
): Promise<Visit> {
  const origin = `http://127.0.0.1:${live.port}/`
  const context = await browser.newContext({
    viewport: { width: 1100, height: 720 },
    timezoneId: 'UTC',
    // Metres and days before months; the browser's own locale would have feet.
    locale: 'en-IE',
    // Software would draw each step of a move.
    reducedMotion: 'reduce',
    ...options,
  })
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  if (clock) await page.clock.install()
  const [errors, foreign]: [string[], string[]] = [[], []]
  page.on('console', (message) => {
    // Chromium warns of its own copies of the map, since it composes pages without GL.
    if (message.text().includes('GPU stall due to ReadPixels')) return
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  await context.route('**', (route) => {
    const address = route.request().url()
    if (address.startsWith(origin) || /^(data|blob):/.test(address)) return route.continue()
    foreign.push(address)
    return route.abort()
  })
  if (map) await context.addInitScript(KEEPS_MAP)
  else await leaveOutMap(context)
  await page.goto(origin + path)
  return { page, origin, errors, foreign }
}

/** Keeps the style of MapLibre, which has the map. */
const KEEPS_MAP = `Object.defineProperty(Object.prototype, 'crossTileSymbolIndex', { set(value) {
  window.mapStyle = this
  Object.defineProperty(this, 'crossTileSymbolIndex', { value, writable: true })
} })`

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** Faults of accessibility that axe finds, as lines. The page's policy does not apply to the code of axe. */
export async function faults(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE)
  const found = await page.evaluate<Violation[]>(
    `axe.run({ resultTypes: ['violations'] }).then((result) => result.violations)`,
  )
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}

export interface Spot {
  x: number
  y: number
}

/**
 * The middles of all that the map has in the colours of the first `count` classes, in pixels of the window;
 * null for a colour that it lacks.
 */
export async function dotsOf(page: Page, count: number): Promise<(Spot | null)[]> {
  await page.evaluate(`document.getElementById('over-map').style.visibility = 'hidden'`)
  const box = (await page.locator('#chart-of-the-sea').boundingBox())!
  const bytes = await page.screenshot({ clip: box })
  await page.evaluate(`document.getElementById('over-map').style.visibility = ''`)
  const found = await page.evaluate<(Spot | null)[]>(`new Promise((resolve) => {
    const image = Object.assign(new Image(), { src: 'data:image/png;base64,${bytes.toString('base64')}' })
    image.onload = () => {
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
      context.drawImage(image, 0, 0)
      const { data } = context.getImageData(0, 0, image.width, image.height)
      resolve(${JSON.stringify(HEIGHT_COLORS.slice(0, count))}.map((color) => {
        const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
        let [x, y, n] = [0, 0, 0]
        for (let i = 0; i < data.length; i += 4) {
          if (data[i] !== r || data[i + 1] !== g || data[i + 2] !== b) continue
          x += (i / 4) % image.width
          y += Math.floor(i / 4 / image.width)
          n++
        }
        const ratio = image.width / ${box.width}
        return n < 20 ? null : { x: x / n / ratio, y: y / n / ratio }
      }))
    }
  })`)
  return found.map((spot) => spot && { x: spot.x + box.x, y: spot.y + box.y })
}
