/** Debian's Chromium, driven by tests of pages and by the script that takes pictures of them. */
import { accessSync, constants } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

/** The first has no window, so that a page costs it a third of the CPU time. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/**
 * WebGL in software, for machines without a graphics card. All else is drawn without GL, which software would
 * take twice as long for.
 */
const ARGUMENTS = [
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--disable-gpu-compositing',
  '--disable-gpu-rasterization',
]

/** The path of the browser, or undefined where the machine has none. */
export function findBrowser(): string | undefined {
  return PLACES.find((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** @throws Error saying what to install where the machine has no Chromium */
export function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === undefined) {
    throw new Error(
      `Chromium is in none of ${PLACES.join(', ')}; on Debian: sudo apt-get install -y chromium-headless-shell`,
    )
  }
  // Chromium refuses its sandbox to root.
  const isRoot = process.getuid?.() === 0
  return chromium.launch({ executablePath, args: isRoot ? [...ARGUMENTS, '--no-sandbox'] : ARGUMENTS })
}
