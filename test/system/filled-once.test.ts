/** Memory that is filled once and seen by all threads. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { sharedOnce } from '../../src/dataset/literals.ts'

test('A thread that was started after a table was filled looks at the same bytes.', async () => {
  const url = new URL('../../dist/dataset/literals.js', import.meta.url).href
  const { sharedOnce: compiled } = (await import(url)) as { sharedOnce: typeof sharedOnce }
  const bytes = new Uint8Array(compiled('one of two threads', 4, (memory) => new Uint8Array(memory).fill(7)))
  const script = `
    const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(url)}).then(({ sharedOnce }) => {
      const bytes = new Uint8Array(sharedOnce('one of two threads', 4, () => { throw new Error('filled again') }))
      bytes[0]++
      parentPort.postMessage(bytes[0])
    })`
  const worker = new Worker(script, { eval: true })
  const [seen] = (await once(worker, 'message')) as [number]
  assert.equal(seen, 8)
  assert.equal(bytes[0], 8)
})
