/**
 * `npm run pictures`: remakes the pictures of the README. The chart of the bench comes from the table of
 * `bench/README.md`, the pictures of the explorer from a server over the demo data. `npm run pictures --
 * chart` makes the chart alone, which needs no browser.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../live_server.ts'
import { BENCH_CHARTS, benchChart } from './bench_chart.ts'
import { explorerPictures } from './explorer.ts'

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))

/** What a reader on a slow line waits for. */
const PICTURE_BYTES = 200_000

mkdirSync(IMAGES, { recursive: true })
for (const theme of ['light', 'dark'] as const) writeFileSync(BENCH_CHARTS[theme], benchChart(theme))
if (!process.argv.includes('chart')) await takeExplorer()

async function takeExplorer(): Promise<void> {
  let end = (): Promise<void> => Promise.resolve()
  try {
    const live = await startServer({ sourceArgs: ['--source', 'demo'] }, (theEnd) => (end = theEnd))
    for (const { name, bytes } of await explorerPictures(live)) {
      if (bytes.length > PICTURE_BYTES) {
        throw new Error(
          `${name} has ${bytes.length} bytes, more than ${PICTURE_BYTES}: take a smaller picture`,
        )
      }
      writeFileSync(join(IMAGES, name), bytes)
    }
  } finally {
    await end()
  }
}
