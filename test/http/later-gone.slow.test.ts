/** Later answers whose clients go away before the end: each hears of it, and no other connection. */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { LaterReply } from '../../src/http/exchange.ts'
import { request } from './raw_client.ts'
import { connectionsFor, SLOW_ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'
import { until } from '../until.ts'

/** More than an engine keeps apart without asking. */
const CLIENTS = 300

for (const kind of SLOW_ENGINES) {
  test(
    `Later answers of the ${kind} engine hear that their connections are gone, and no connection is counted for good.`,
    { skip: missing(kind) },
    async (t) => {
      const replies: LaterReply[] = []
      let gone = 0
      const connections = connectionsFor(Infinity)
      const server = await new EngineServer(
        kind,
        (exchange) => {
          if (exchange.path === '/now') {
            exchange.send(TEXT_HEAD, Buffer.from('now'))
            return
          }
          const reply = exchange.later({ onRoom: () => {}, onGone: () => void gone++ })
          reply.begin(TEXT_HEAD, exchange.path === '/whole' ? 5 : 5_000_000)
          reply.write(Buffer.from('begun'))
          if (exchange.path === '/whole') reply.end()
          else replies.push(reply)
        },
        { connections },
      ).until(t)
      for (let round = 0; round < 3; round++) {
        const sockets: Socket[] = []
        let answered = 0
        for (let i = 0; i < CLIENTS; i++) {
          const socket = connect(server.port, '127.0.0.1')
          socket.on('error', () => {})
          socket.once('data', () => answered++)
          socket.write(request(`GET ${['/begun', '/whole', '/now'][i % 3]}`))
          sockets.push(socket)
        }
        await until(
          () => answered === CLIENTS,
          () => `${answered} answered`,
        )
        const before = gone
        for (const socket of sockets) socket.resetAndDestroy()
        await until(
          () => gone - before === CLIENTS / 3,
          () => `${gone - before} heard of it`,
        )
        await until(
          () => connections.open === 0,
          () => `${connections.open} connections are left`,
        )
        // Nobody hears of these any more.
        for (const reply of replies.splice(0)) {
          reply.write(Buffer.from('more'))
          reply.end()
        }
      }
      assert.equal((await server.open().ask('GET /now')).body, 'now')
    },
  )
}
