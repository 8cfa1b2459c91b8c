import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'

import { findFreePort } from '../../src/http/port.ts'
import { RawClient, request } from './raw_client.ts'
import { missing } from './server_for_tests.ts'

describe('two worker threads with the uws engine', { skip: missing('uws') }, () => {
  const start = async (port: number): Promise<{ worker: Worker; port: number; exit: Promise<number> }> => {
    const worker = new Worker(new URL('listening_worker.mjs', import.meta.url), { workerData: { port } })
    const exit = new Promise<number>((resolve) => worker.once('exit', resolve))
    const bound = await new Promise<number>((resolve, reject) => {
      worker.once('message', ({ port }: { port: number }) => resolve(port))
      worker.once('error', reject)
    })
    return { worker, port: bound, exit }
  }

  it('share one port, with the limit of 16 KB, and exit cleanly after close', async () => {
    const port = await findFreePort('127.0.0.1', 0)
    const first = await start(port)
    const second = await start(port)
    assert.deepEqual([first.port, second.port], [port, port])

    // The kernel spreads connections by a hash of their addresses: that 60 go one way has a probability of
    // 2^-59.
    const seen = new Set<string>()
    const clients = Array.from({ length: 60 }, () => new RawClient(port))
    for (const client of clients) {
      client.write(request(`GET /${'u'.repeat(10_000)}`))
      const [thread = '', length] = (await client.answer()).body.split(' ')
      assert.equal(length, '10001')
      seen.add(thread)
    }
    assert.deepEqual(seen, new Set([String(first.worker.threadId), String(second.worker.threadId)]))

    // One after the other, with connections open: the other goes on serving.
    first.worker.postMessage('close')
    assert.equal(await first.exit, 0)
    const late = new RawClient(port)
    late.write(request('GET /'))
    assert.match((await late.answer()).body, new RegExp(`^${second.worker.threadId} `))
    second.worker.postMessage('close')
    assert.equal(await second.exit, 0)
    for (const client of [...clients, late]) {
      await client.closed()
      client.socket.destroy()
    }
  })
})
