/** That clients which send several requests at once get all of their answers, also when they read late. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UNREAD_LIMIT_BYTES } from '../../src/http/engines/limits.ts'
import { until } from '../until.ts'
import { request, type RawClient } from './raw_client.ts'
import { ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'

/** Bytes of a dear answer, and of sixteen of them, which are kept for a client that reads late. */
const DEAR = 32 * 1024
const EACH = 16
/** No client reads as late as after so many batches: the kernel takes some megabytes for it. */
const MOST_BATCHES = 200

function bodyOf(bytes: number): string {
  return '0123456789abcde'.repeat(Math.ceil(bytes / 15)).slice(0, bytes)
}

for (const kind of ENGINES) {
  describe(`clients of the ${kind} engine that send 16 requests at once`, { skip: missing(kind) }, () => {
    const server = new EngineServer(kind, (exchange) => {
      answered++
      exchange.send(TEXT_HEAD, Buffer.from(bodyOf(Number(exchange.query))))
    }).forSuite()
    let answered = 0
    const open = (): RawClient => server.open()
    const batch = (bytes: number, each = EACH): string => request(`GET /?${bytes}`).repeat(each)
    const assertAnswers = async (client: RawClient, bytes: number, each = EACH): Promise<void> => {
      for (let i = 0; i < each; i++) {
        const { status, body } = await client.answer()
        assert.equal(status, 200)
        assert.ok(body === bodyOf(bytes), `${body.length} bytes in place of ${bytes}`)
      }
    }

    /** Has a client ask, and not read, until answers wait for it. @returns how many it has asked for */
    const fill = async (client: RawClient): Promise<number> => {
      client.socket.pause()
      const { bufferedBytes } = server.engine.pressure
      for (let asked = EACH; asked < MOST_BATCHES * EACH; asked += EACH) {
        const due = answered + EACH
        client.write(batch(DEAR))
        await until(
          () => answered >= due || server.engine.pressure.bufferedBytes > bufferedBytes || client.ended,
        )
        assert.ok(!client.ended, `cut after ${asked} requests`)
        if (server.engine.pressure.bufferedBytes > bufferedBytes) return asked
      }
      throw new Error('the system takes any number of answers')
    }

    for (const [many, each, bytes] of [
      [64, 16, 2000],
      [200, 8, 2000],
      [64, 16, DEAR],
    ]) {
      it(`get all of them, ${many} with ${each} requests for ${bytes} bytes in the same turn`, async () => {
        const all = Array.from({ length: many }, open)
        for (let round = 0; round < 3; round++) {
          for (const client of all) client.write(batch(1))
          for (const client of all) await assertAnswers(client, 1)
          for (const client of all) client.write(batch(bytes, each))
          for (const client of all) await assertAnswers(client, bytes, each)
        }
        for (const client of all) client.socket.destroy()
      })
    }

    it('get all of them also when they read none before the system takes no more', async () => {
      const client = open()
      for (let round = 0; round < 2; round++) {
        const asked = await fill(client)
        client.socket.resume()
        await assertAnswers(client, DEAR, asked)
        client.write(batch(DEAR))
        await assertAnswers(client, DEAR)
        await until(() => server.engine.pressure.bufferedBytes === 0)
      }
      client.socket.destroy()
    })

    it('among other requests get all of them in their order', async () => {
      const client = open()
      const asked = await fill(client)
      client.write(
        request('HEAD /?7') +
          request('GET /?8') +
          request(`GET /?${DEAR}`, ['Expect: 100-continue']) +
          request('OPTIONS /?9') +
          batch(DEAR, 2),
      )
      client.socket.resume()
      await assertAnswers(client, DEAR, asked)
      assert.equal((await client.answer('HEAD')).headers.get('content-length')?.[0], '7')
      for (const bytes of [8, DEAR, 9, DEAR, DEAR]) await assertAnswers(client, bytes, 1)
      client.socket.destroy()
    })

    it('and read none cost a bounded number of bytes, which are free when they have gone', async () => {
      const late = Array.from({ length: 4 }, open)
      for (const client of late) await fill(client)
      for (const client of late) client.write(batch(DEAR, 4 * EACH))
      const reader = open()
      reader.write(batch(DEAR))
      await assertAnswers(reader, DEAR)
      assert.ok(
        server.engine.pressure.bufferedBytes <= late.length * UNREAD_LIMIT_BYTES,
        `${server.engine.pressure.bufferedBytes}`,
      )
      for (const client of late) client.socket.destroy()
      await until(() => server.engine.pressure.bufferedBytes === 0)
    })
  })
}

describe('a client of the uws engine that sends more than is kept for it', { skip: missing('uws') }, () => {
  it('is told so in place of each answer that is too much, and goes on when it has read', async (t) => {
    let answered = 0
    const server = await new EngineServer('uws', (exchange) => {
      answered++
      exchange.send(TEXT_HEAD, Buffer.alloc(DEAR, 'a'))
    }).until(t)
    const client = server.open()
    client.socket.pause()
    for (let batches = 1; server.engine.pressure.bufferedBytes === 0 && batches < MOST_BATCHES; batches++) {
      client.write(request('GET /').repeat(EACH))
      await until(() => answered === batches * EACH || client.ended)
    }
    const before = answered
    client.write(request('GET /').repeat(4 * EACH))
    await until(() => answered === before + 4 * EACH || client.ended)
    client.socket.resume()
    const statuses: number[] = []
    for (let i = 0; i < answered; i++) {
      const { status, headers, body } = await client.answer()
      statuses.push(status)
      if (status === 200) assert.equal(body.length, DEAR)
      else assert.deepEqual([status, headers.get('retry-after')], [503, ['1']])
    }
    const whole = statuses.indexOf(503)
    assert.ok(
      whole > before && whole < before + UNREAD_LIMIT_BYTES / DEAR,
      `${whole} of ${before} and ${4 * EACH}`,
    )
    assert.ok(statuses.slice(whole).every((status) => status === 503))
    client.write(request('GET /').repeat(EACH))
    for (let i = 0; i < EACH; i++) assert.equal((await client.answer()).status, 200)
  })
})
