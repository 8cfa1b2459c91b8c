/** Connections that do not read, where the system's TCP memory is tight, and the turns of long bodies. */
import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { it } from 'node:test'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { isTcpMemoryTight, TcpPressure } from '../../src/http/engines/tcp-pressure.ts'
import { PIECE_BYTES } from '../../src/http/engines/limits.ts'
import { SendQueue } from '../../src/http/engines/unsent-bodies.ts'
import { listening } from '../listening.ts'
import { until } from '../until.ts'

/** More than the kernel's buffers of a connection hold. */
const LONG_LENGTH = 16_000_000

it('Tight TCP memory costs those their connection who take nothing, and nobody else.', async (t) => {
  let isTight = false
  let resets = 0
  const pressure = new TcpPressure(
    () => resets++,
    () => isTight,
  )
  const accepted: Socket[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    accepted.push(socket)
    pressure.watch(socket)
    socket.write(Buffer.alloc(LONG_LENGTH))
  })
  const port = await listening(t, server)
  const clients: Socket[] = []
  try {
    const reader = connect(port, '127.0.0.1')
    clients.push(reader)
    let received = 0
    reader.on('data', (chunk: Buffer) => void (received += chunk.length))
    let ended = 0
    for (let i = 0; i < 5; i++) {
      const client = connect(port, '127.0.0.1')
      clients.push(client)
      client.on('error', () => {})
      client.once('close', () => ended++)
      client.pause()
    }
    await until(() => accepted.length === 6 && received === LONG_LENGTH, 'not all that is read arrived')
    // Eight looks without pressure.
    await wait(2000)
    assert.equal(resets, 0)
    isTight = true
    await until(() => resets === 5, 'those who do not read kept their connections')
    assert.equal(accepted.filter((socket) => socket.destroyed).length, 5)
    accepted[0].write('more')
    await until(() => received === LONG_LENGTH + 4, 'the reader lost its connection')
    for (const client of clients) client.resume()
    await until(() => ended === 5, 'they were not reset')
    // What had not arrived by then was dropped, and does not stay in the kernel.
    assert.ok(clients.slice(1).every(({ bytesRead }) => bytesRead < LONG_LENGTH))
  } finally {
    pressure.stop()
    for (const socket of [...clients, ...accepted]) socket.destroy()
  }
})

it('The memory of TCP is not tight on a machine at rest.', () => {
  assert.equal(isTcpMemoryTight(), false)
})

it('Of long bodies one piece goes out in a turn that has accepted a connection.', async () => {
  const turns = new SendQueue()
  let sent = 0
  const send = (): number => {
    sent++
    return PIECE_BYTES
  }
  for (let i = 0; i < 30; i++) turns.add(() => send())
  turns.giveWay()
  await turn()
  assert.equal(sent, 1)
  await turn()
  assert.equal(sent, 9)
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sent, 30)
})
