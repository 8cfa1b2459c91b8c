/** The explorer's map and charts in a real browser, and what the server gives pages that have no key. */
import { test } from 'node:test'
import { missingBrowser } from '../programs.ts'
import { testOpen } from './anonymous-access.ts'
import { openBrowser, serveWorld } from './browser.ts'
import { testCharts } from './charts.ts'
import { testMap } from './map.ts'

test('The explorer', { skip: missingBrowser() }, async (t) => {
  const [browser, live] = await Promise.all([openBrowser(t), serveWorld(t)])
  await t.test('on its map', (t) => testMap(t, browser, live))
  await t.test('in its charts and units', (t) => testCharts(t, browser, live))
  await t.test('without a key', (t) => testOpen(t, browser, live))
})
