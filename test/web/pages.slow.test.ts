/** The explorer in a real browser, with a key and without one. */
import { test } from 'node:test'
import { missingBrowser } from '../programs.ts'
import { testKeyed } from './anonymous-access.ts'
import { openBrowser, serveWorld } from './browser.ts'
import { testExplorer } from './explorer.ts'

test('The explorer', { skip: missingBrowser() }, async (t) => {
  const [browser, live] = await Promise.all([openBrowser(t), serveWorld(t)])
  await t.test('with a key', (t) => testExplorer(t, browser, live))
  await t.test('where it asks for a key', (t) => testKeyed(t, browser, live))
})
