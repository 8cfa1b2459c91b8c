/**
 * Pictures of the explorer, as a visitor sees one buoy: on a wide screen in light and dark, and on a phone.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../browser.ts'
import type { Live } from '../live_server.ts'

interface Picture {
  /** From the folder of the documents' pictures. */
  name: string
  bytes: Uint8Array
}

/**
 * A buoy whose panel has everything: heights, periods, tide and forecast. On a phone the map moves up to it.
 */
const VIEW = 'buoy=saint-jean-de-luz&map=4.6/45.5/-6.5'
/** Chromium draws maps in software where the machine has no graphics card. */
const DRAWN_MS = 120_000

const DESKTOP = { viewport: { width: 1200, height: 800 }, deviceScaleFactor: 1 }
const PHONE = {
  viewport: { width: 390, height: 780 },
  deviceScaleFactor: 1.5,
  isMobile: true,
  hasTouch: true,
}

/** @throws Error when the explorer does not draw what the picture is of */
export async function explorerPictures(live: Live): Promise<Picture[]> {
  const browser = await launchBrowser()
  try {
    return [
      await picture(browser, live, 'explorer-light.png', {
        ...DESKTOP,
        colorScheme: 'light',
      }),
      await picture(browser, live, 'explorer-dark.png', { ...DESKTOP, colorScheme: 'dark' }),
      await picture(browser, live, 'explorer-phone.png', { ...PHONE, colorScheme: 'light' }),
      { name: '../../web/explorer/share.png', bytes: await sharedPicture(browser) },
    ]
  } finally {
    await browser.close()
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
  const bytes = await page.screenshot()
  await page.close()
  return bytes
}

async function picture(
  browser: Browser,
  live: Live,
  name: string,
  options: BrowserContextOptions,
): Promise<Picture> {
  const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-GB', ...options })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(DRAWN_MS)
    await page.goto(`http://127.0.0.1:${live.port}/#key=${live.key}&${VIEW}`)
    await everythingDrawn(page)
    return { name, bytes: await page.screenshot({ animations: 'disabled' }) }
  } finally {
    await context.close()
  }
}

/** Waits for the map's buoys, the three charts and the conditions. */
async function everythingDrawn(page: Page): Promise<void> {
  await page.locator('#map[data-drawn]:not([data-drawn="0"])').waitFor({ state: 'attached' })
  await page.locator('.plot canvas').nth(2).waitFor()
  await page.locator('.facts').waitFor()
  await page.evaluate('document.fonts.ready')
}
