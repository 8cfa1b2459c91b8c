/**
 * `npm run pictures:views -- FOLDER`: every view of the pages on every kind of screen, in light and dark, for
 * somebody to look at. Nothing is compared: what is wrong is seen.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../browser.ts'
import { startServer, type Live } from '../live_server.ts'

/** Chromium draws maps in software where the machine has no graphics card. */
const DRAWN_MS = 120_000

const touch = (width: number, height: number): BrowserContextOptions => ({
  viewport: { width, height },
  isMobile: true,
  hasTouch: true,
})

const SCREENS: { readonly [name: string]: BrowserContextOptions } = {
  desktop: { viewport: { width: 1440, height: 900 } },
  laptop: { viewport: { width: 1120, height: 700 } },
  'tablet-upright': touch(820, 1180),
  'tablet-across': touch(1180, 820),
  'phone-upright': touch(390, 780),
  'phone-across': touch(844, 390),
}

interface View {
  name: string
  /** Which server: `keyed` asks visitors for a key. */
  server: 'open' | 'keyed'
  /** Behind the origin. */
  path: string
  /** What a visitor does there, and what is waited for. */
  act: (page: Page) => Promise<void>
}

const charts = (page: Page): Promise<void> => page.locator('.plot canvas').first().waitFor()

async function buoyPanel(page: Page): Promise<void> {
  await charts(page)
  await page.locator('.facts').waitFor()
}

const VIEWS: readonly View[] = [
  {
    name: 'first',
    server: 'open',
    path: '',
    act: (page) => page.locator('#content .buoys a').first().waitFor(),
  },
  {
    name: 'favourite',
    server: 'open',
    path: '#buoy=saint-jean-de-luz',
    act: async (page) => {
      await page.locator('#star').click()
      await page.locator('#back').click()
      await openSheet(page)
    },
  },
  {
    name: 'search',
    server: 'open',
    path: '',
    act: async (page) => {
      await page.locator('#query').fill('st jean')
      await page.locator('#search [role="option"]').first().waitFor()
    },
  },
  {
    name: 'buoy',
    server: 'open',
    path: '#buoy=saint-jean-de-luz',
    act: buoyPanel,
  },
  {
    name: 'charts',
    server: 'open',
    path: '#buoy=san-francisco',
    act: async (page) => {
      await buoyPanel(page)
      await openSheet(page)
      await page.locator('.plots').evaluate((plots) => plots.scrollIntoView())
    },
  },
  {
    name: 'charts-end',
    server: 'open',
    path: '#buoy=san-francisco',
    act: async (page) => {
      await buoyPanel(page)
      await openSheet(page)
      await page.locator('.facts').evaluate((facts) => facts.scrollIntoView({ block: 'end' }))
    },
  },
  {
    name: 'seasons',
    server: 'open',
    path: '#buoy=saint-jean-de-luz&tab=seasons',
    act: async (page) => {
      await page.getByRole('radio', { name: 'Seasons' }).check()
      await page.getByLabel('Compared with').waitFor()
      await charts(page)
      await openSheet(page)
    },
  },
  {
    name: 'sea',
    server: 'open',
    path: '#lat=43.9&lng=-2.4',
    act: (page) => page.locator('.facts').waitFor(),
  },
  {
    name: 'globe',
    server: 'open',
    path: '#globe=1',
    act: (page) => page.locator('#content .buoys a').first().waitFor(),
  },
  {
    name: 'coast',
    server: 'open',
    path: '#map=7/43.9/-1.9',
    act: (page) => page.locator('#content .buoys a').first().waitFor(),
  },
  {
    name: 'satellites',
    server: 'open',
    path: '#satellites=1',
    act: async (page) => {
      await openSheet(page)
      await page.locator('.pass').first().click()
    },
  },
  {
    name: 'key',
    server: 'keyed',
    path: '',
    act: async (page) => {
      await page.locator('#invite-key').click()
      await page.locator('dialog[open]').waitFor()
    },
  },
  {
    name: 'guest',
    server: 'keyed',
    path: '',
    act: (page) => page.locator('#invite-key').waitFor(),
  },
  {
    name: 'docs',
    server: 'open',
    path: 'docs',
    act: (page) => page.locator('h1').first().waitFor(),
  },
]

async function drawnMap(page: Page): Promise<void> {
  await page.locator('#map[data-drawn]:not([data-drawn="0"])').waitFor({ state: 'attached' })
}

/** On small screens the panel is a sheet over the map; it is opened whole. */
async function openSheet(page: Page): Promise<void> {
  const handle = page.locator('#handle')
  for (let i = 0; i < 2 && (await handle.isVisible()); i++) {
    if ((await page.locator('body').getAttribute('data-sheet')) !== 'full') await handle.click()
  }
}

const folder = process.argv[2]
if (folder === undefined) throw new Error('npm run pictures:views needs a folder: -- FOLDER')
mkdirSync(folder, { recursive: true })
const wanted = process.argv.slice(3)
const ends: (() => Promise<void>)[] = []
try {
  const start = (args: string[], more: object): Promise<Live> =>
    startServer({ args, ...more }, (end) => ends.push(end))
  const open = await start(['--explorer=open', '--workers=1'], { sourceArgs: ['--source', 'demo'] })
  const keyed = await start(['--explorer=keyed', '--workers=1', '--contact=https://example.org/keys'], {
    snapshots: open.snapshots,
  })
  const browser = await launchBrowser()
  ends.push(() => browser.close())
  for (const [screen, options] of Object.entries(SCREENS)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await takeAll(browser, { open, keyed }, `${screen}-${colorScheme}`, { ...options, colorScheme })
    }
  }
} finally {
  for (const end of ends.toReversed()) await end()
}

async function takeAll(
  browser: Browser,
  servers: { readonly [server in View['server']]: Live },
  screen: string,
  options: BrowserContextOptions,
): Promise<void> {
  const asked = VIEWS.filter(
    ({ name }) => wanted.length === 0 || wanted.some((word) => `${name}-${screen}`.includes(word)),
  )
  if (asked.length === 0) return
  const context = await browser.newContext({ timezoneId: 'UTC', locale: 'fr-FR', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(DRAWN_MS)
  for (const { name, server, path, act } of asked) {
    await page.goto('about:blank')
    await page.goto(`http://127.0.0.1:${servers[server].port}/${path}`)
    try {
      await act(page)
      if (path !== 'docs') await drawnMap(page)
    } catch (error) {
      console.error(`${name} on ${screen}: ${(error as Error).message.split('\n')[0]}`)
    }
    await page.screenshot({ path: join(folder, `${name}-${screen}.png`), animations: 'disabled' })
  }
  await context.close()
}
