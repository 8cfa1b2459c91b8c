/** What a serving thread remembers of the keys that it was shown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHeapSnapshot } from 'node:v8'
import fc from 'fast-check'
import { KEY_LENGTH } from '../../src/access/key-text.ts'
import { KnownKeys } from '../../src/access/known-keys.ts'
import { AskedPath, viewOf } from '../answered.ts'
import { smallSnapshot } from './turned_clock.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const keyText = fc
  .array(fc.constantFrom(...LETTERS.split('')), { minLength: KEY_LENGTH - 4, maxLength: KEY_LENGTH - 4 })
  .map((letters) => `gsw_${letters.join('')}`)

/**
 * Which of some texts the memory of this thread holds. They are given as bytes, so that they are not texts
 * themselves.
 */
async function inMemory(texts: readonly Buffer[]): Promise<boolean[]> {
  const found = texts.map(() => false)
  const longest = Math.max(...texts.map(({ length }) => length))
  let rest = Buffer.alloc(0)
  // Collects what nothing holds before it writes.
  for await (const chunk of getHeapSnapshot()) {
    const bytes = Buffer.concat([rest, chunk as Buffer])
    texts.forEach((text, i) => (found[i] ||= bytes.includes(text)))
    rest = bytes.subarray(Math.max(0, bytes.length - longest))
  }
  return found
}

test('No key that a request brought is left in memory, nor the header that it came in.', async () => {
  const view = await viewOf(await smallSnapshot())
  const keys = Array.from({ length: 3 }, (_, n) =>
    Buffer.from(
      Array.from({ length: KEY_LENGTH }, (_, i) => (i < 4 ? 'gsw_'.charCodeAt(i) : 65 + ((i * 7 + n) % 26))),
    ),
  )
  const path = new AskedPath(view, {}, keys)
  const ask = (): void => {
    for (const key of keys) {
      for (const url of ['/v2/buoys/1', '/v2/buoys/1', '/v2/buoys', '/v2/buoys/search?query=alpha']) {
        const headers = { authorization: `Bearer ${key.toString('latin1')}` }
        assert.equal(path.get(url, headers).status, 200)
        const joined = `${url}${url.includes('?') ? '&' : '?'}api_key=${key.toString('latin1')}`
        assert.equal(path.get(joined).status, 200)
        assert.equal(path.get(joined, { accept: '*/*' }).status, 200)
      }
      assert.equal(
        path.get('/v2/countries', { authorization: `bearer  ${key.toString('latin1')}` }).status,
        200,
      )
    }
    // What the last request was is held until the next one comes.
    path.get('/v2/countries?x=1')
  }
  ask()
  const held = Buffer.from('what is held is found')
  const text = held.toString()
  assert.deepEqual(await inMemory([held, ...keys]), [true, false, false, false])
  assert.equal(text.length, held.length)
  assert.equal(path.get('/v2/buoys/1', { authorization: `Bearer ${keys[0].toString('latin1')}` }).status, 200)
})

test('A value that was seen leads to its row, and no other does.', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(keyText, { minLength: 1, maxLength: 40 }),
      fc.array(keyText, { maxLength: 10 }),
      fc.nat({ max: KEY_LENGTH + 6 }),
      (seen, others, place) => {
        const known = new KnownKeys()
        seen.forEach((key, row) => known.add(`Bearer ${key}`, row))
        seen.forEach((key, row) => {
          const value = `Bearer ${key}`
          assert.equal(known.find(value), row)
          // One character is another, also one whose lower eight bits are the same.
          const other = value.charCodeAt(place)
          for (const code of [other ^ 1, other | 0x80, other | 0x100, other | 0x4100]) {
            const changed = value.slice(0, place) + String.fromCharCode(code) + value.slice(place + 1)
            if (!seen.includes(changed.slice(7)) || place < 7) assert.equal(known.find(changed), -1, changed)
          }
          for (const part of [value.slice(1), `${value} `, key, value.toLowerCase().replace(/[a-z]$/, '')]) {
            assert.equal(known.find(part), -1)
          }
        })
        for (const key of others) if (!seen.includes(key)) assert.equal(known.find(`Bearer ${key}`), -1)
        known.clear()
        for (const key of seen) assert.equal(known.find(`Bearer ${key}`), -1)
      },
    ),
    { numRuns: 200 },
  )
})

test('As many keys as are remembered are distinguished, and one more makes it forget them.', () => {
  const known = new KnownKeys()
  const value = (i: number): string => `Bearer gsw_${String(i).padStart(KEY_LENGTH - 4, '0')}`
  for (let i = 0; i < 16_384; i++) known.add(value(i), i)
  let found = 0
  for (let i = 0; i < 16_384; i++) {
    const row = known.find(value(i))
    if (row === -1) continue
    assert.equal(row, i)
    found++
  }
  assert.ok(found > 16_300, `${found} of 16,384 found`)
  for (let i = 0; i < 10_000; i++) assert.equal(known.find(value(20_000 + i)), -1)
  for (let i = 0; i < 16_384 - found + 100; i++) known.add(value(50_000 + i), i)
  assert.equal(known.find(value(1)), -1)
})
