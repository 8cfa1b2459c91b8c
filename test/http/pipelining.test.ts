/** Clients that send several requests at once, and read all answers. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { request, type RawClient } from './raw_client.ts'
import { ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'

const EACH = 16

function bodyOf(bytes: number): string {
  return '0123456789abcde'.repeat(Math.ceil(bytes / 15)).slice(0, bytes)
}

for (const kind of ENGINES) {
  describe(`clients of the ${kind} engine that send 16 requests at once`, { skip: missing(kind) }, () => {
    const server = new EngineServer(kind, (exchange) => {
      exchange.send(TEXT_HEAD, Buffer.from(bodyOf(Number(exchange.query))))
    }).forSuite()
    const open = (): RawClient => server.open()
    const batch = (bytes: number, each = EACH): string => request(`GET /?${bytes}`).repeat(each)
    const assertAnswers = async (client: RawClient, bytes: number, each = EACH): Promise<void> => {
      for (let i = 0; i < each; i++) {
        const { status, body } = await client.answer()
        assert.equal(status, 200)
        assert.ok(body === bodyOf(bytes), `${body.length} bytes in place of ${bytes}`)
      }
    }

    for (const [many, each, bytes] of [
      [64, 16, 2000],
      [200, 8, 2000],
      [64, 16, 32 * 1024],
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
  })
}
