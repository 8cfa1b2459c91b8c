/** The list of other people's work is that of what is installed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { thirdPartyText } from '../../tools/third_party.ts'

test('THIRD_PARTY.md has all that is installed and bundled, each with a licence.', async () => {
  const text = readFileSync(new URL('../../THIRD_PARTY.md', import.meta.url), 'utf8')
  assert.equal(text, await thirdPartyText(), 'run npm run third-party')
  assert.ok(!text.includes('not named'))
  for (const name of ['h5wasm', 'msgpackr', '@uwsjs/linux-x64-24', 'maplibre-gl', '@scalar/api-reference'])
    assert.match(text, new RegExp(`^\\| \`${name}\` \\| [\\d.]+ \\| \\S`, 'm'))
  const copyleft = text.split('\n').filter((line) => /\b(A?GPL|LGPL|SSPL|BUSL)/.test(line))
  assert.deepEqual(copyleft, [])
})
