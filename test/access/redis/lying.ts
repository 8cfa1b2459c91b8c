/** A Redis that lies when a test wants it: a proxy before a real one. */
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listening } from '../../listening.ts'

interface LyingRedis {
  readonly address: string
  /** What every command that has `word` in it is answered, in Redis's protocol; null for the truth. */
  lie: { word: string; reply: string } | null
  /** Lies told. */
  lies: number
  /** Connections of clients that are closed. */
  closed: number
}

export async function startLyingRedis(t: TestContext, port: number): Promise<LyingRedis> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1')
    client.once('close', () => lying.closed++)
    for (const socket of [client, redis]) {
      sockets.add(socket.on('error', () => {}))
      socket.once('close', () => {
        client.destroy()
        redis.destroy()
      })
    }
    redis.on('data', (bytes) => client.write(bytes))
    client.on('data', (bytes) => {
      const { lie } = lying
      if (lie !== null && bytes.includes(lie.word)) {
        lying.lies++
        client.write(lie.reply)
      } else redis.write(bytes)
    })
  })
  const lying: LyingRedis = {
    address: `redis://127.0.0.1:${await listening(t, server)}/0`,
    lie: null,
    lies: 0,
    closed: 0,
  }
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  return lying
}
