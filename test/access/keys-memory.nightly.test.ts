/** What a serving thread remembers of the keys that it was shown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHeapSnapshot } from 'node:v8'
import { KEY_LENGTH } from '../../src/access/key-ring.ts'
import { AskedPath, viewOf } from '../answered.ts'
import { smallSnapshot } from './turned_clock.ts'

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
