/** Explorer and documentation in one real browser, the explorer's suites at one server where they can be. */
import { test } from 'node:test'
import { missingBrowser } from '../programs.ts'
import { testKeyed, testOpen } from './anonymous-access.ts'
import { openBrowser, serveWorld } from './browser.ts'
import { testCharts } from './charts.ts'
import { testDocs } from './docs.ts'
import { testExplorer } from './explorer.ts'
import { testLive } from './live.ts'
import { testMap } from './map.ts'

test('The pages', { concurrency: 2 }, async (t) => {
  const skip = missingBrowser()
  const browser = skip === false ? await openBrowser(t) : null
  await Promise.all([
    t.test('The explorer', { skip }, async (t) => {
      const live = await serveWorld(t)
      await t.test('with a key', (t) => testExplorer(t, browser!, live))
      await t.test('on its map', (t) => testMap(t, browser!, live))
      await t.test('in its charts and units', (t) => testCharts(t, browser!, live))
      await t.test('without a key', (t) => testOpen(t, browser!, live))
    }),
    t.test('The documentation', (t) => testDocs(t, browser)),
    t.test('An explorer that asks for a key', { skip }, (t) => testKeyed(t, browser!)),
    t.test('An explorer that follows what is published', { skip }, (t) => testLive(t, browser!)),
  ])
})
