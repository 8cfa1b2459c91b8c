/**
 * `npm run pictures`: remakes the pictures of the README and the one that other sites show for a link. `npm
 * run pictures -- FOLDER [WORD…]`: views of the pages on six kinds of screen, light and dark, for somebody to
 * look at; words choose some (`phone-upright-dark`). A server over the demo data shows the pages.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { startServer, type Live } from './live_server.ts'

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
/** Chromium draws maps in software where the machine has no graphics card. */
const DRAWN_MS = 120_000
/** What a reader on a slow line waits for. */
const PICTURE_BYTES = 200_000

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

/** What is shown: behind the origin, and what has to be there before a picture is taken. */
const VIEWS: { readonly [name: string]: readonly [path: string, waitFor: string] } = {
  first: ['', '#content .buoys a'],
  buoy: ['#buoy=saint-jean-de-luz', '.facts'],
  charts: ['#buoy=san-francisco&sheet', '.plot canvas'],
  seasons: ['#buoy=saint-jean-de-luz&tab=seasons&sheet', '.plot canvas'],
  sea: ['#lat=43.9&lng=-2.4', '.facts'],
  globe: ['#globe=1', '#content .buoys a'],
  coast: ['#map=7/43.9/-1.9', '#content .buoys a'],
  beside: ['#buoy=anglet&beside=saint-jean-de-luz&days=365&sheet', '.plot'],
  docs: ['docs', 'h1'],
}

/** On small screens the panel is a sheet over the map; it is opened whole. */
async function openSheet(page: Page): Promise<void> {
  const handle = page.locator('#handle')
  for (let i = 0; i < 2 && (await handle.isVisible()); i++) {
    if ((await page.locator('body').getAttribute('data-sheet')) !== 'full') await handle.click()
  }
}

async function picture(
  browser: Browser,
  live: Live,
  [path, waitFor]: readonly [path: string, waitFor: string],
  options: BrowserContextOptions,
): Promise<Uint8Array> {
  const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-GB', ...options })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(DRAWN_MS)
    await page.goto(`http://127.0.0.1:${live.port}/${path.replace('&sheet', '')}`)
    if (path !== 'docs')
      await page.locator('#map[data-drawn]:not([data-drawn="0"])').waitFor({ state: 'attached' })
    await page.locator(waitFor).first().waitFor()
    if (path.endsWith('&sheet')) await openSheet(page)
    await page.evaluate('document.fonts.ready')
    return await page.screenshot({ animations: 'disabled' })
  } finally {
    await context.close()
  }
}

const SHARED = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" font-family="Liberation Sans, sans-serif">
<rect width="1200" height="630" fill="#0b3b5a"/>
<g fill="none" stroke="#7fd6d0" stroke-linecap="round">
<path d="M120 150c75 0 75-60 150-60s75 60 150 60 75-60 150-60M120 270c75 0 75-60 150-60s75 60 150 60 75-60 150-60" stroke-width="36"/>
<path d="M0 600c100 0 100-50 200-50s100 50 200 50 100-50 200-50 100 50 200 50 100-50 200-50 100 50 200 50" stroke-width="8" opacity=".4"/>
</g>
<g fill="#fff"><text x="112" y="410" font-size="104" font-weight="bold">groundswell</text>
<text x="118" y="490" font-size="44">Wave buoys of the world, now</text></g>
</svg>`

/** What other sites show for a link to the explorer. It names no reading, as every server has its own. */
async function sharedPicture(browser: Browser): Promise<Uint8Array> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } })
  await page.goto(`data:image/svg+xml,${encodeURIComponent(SHARED)}`)
  return page.screenshot()
}

/** The pictures of the documents: a buoy whose panel has heights, periods, tide and forecast. */
async function takeDocuments(browser: Browser, live: Live): Promise<void> {
  const view = ['#buoy=saint-jean-de-luz&map=4.6/45.5/-6.5', '.facts'] as const
  const desktop = { viewport: { width: 1200, height: 800 } }
  const phone = { ...touch(390, 780), deviceScaleFactor: 1.5 }
  const pictures = {
    'docs/images/explorer-light.png': await picture(browser, live, view, {
      ...desktop,
      colorScheme: 'light',
    }),
    'docs/images/explorer-dark.png': await picture(browser, live, view, { ...desktop, colorScheme: 'dark' }),
    'docs/images/explorer-phone.png': await picture(browser, live, view, { ...phone, colorScheme: 'light' }),
    'web/explorer/share.png': await sharedPicture(browser),
  }
  for (const [file, bytes] of Object.entries(pictures)) {
    if (bytes.length > PICTURE_BYTES)
      throw new Error(`${file} has ${bytes.length} bytes, more than ${PICTURE_BYTES}`)
    writeFileSync(at(file), bytes)
  }
}

async function takeViews(
  browser: Browser,
  live: Live,
  folder: string,
  words: readonly string[],
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const [screen, options] of Object.entries(SCREENS)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [view, what] of Object.entries(VIEWS)) {
        const name = `${view}-${screen}-${colorScheme}`
        if (words.length > 0 && !words.some((word) => name.includes(word))) continue
        writeFileSync(
          join(folder, `${name}.png`),
          await picture(browser, live, what, { ...options, colorScheme }),
        )
      }
    }
  }
}

const [folder, ...words] = process.argv.slice(2)
const ends: (() => Promise<void>)[] = []
try {
  const args = ['--explorer=open', '--workers=1']
  const live = await startServer({ sourceArgs: ['--source', 'demo'], args }, (end) => ends.push(end))
  const browser = await launchBrowser()
  ends.push(() => browser.close())
  if (folder === undefined) await takeDocuments(browser, live)
  else await takeViews(browser, live, folder, words)
} finally {
  for (const end of ends.toReversed()) await end()
}
