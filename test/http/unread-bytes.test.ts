/** What the kernel holds of a connection, against what its two ends count. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { unreadBytes } from '../../src/http/engines/node.ts'
import { until } from '../until.ts'

const skip = process.platform === 'linux' ? false : 'this system has no /proc/net/tcp'
const MANY_BYTES = 12_000_000

for (const host of ['127.0.0.1', '::1']) {
  test(`Of a connection to ${host} as much is unread as its client has not taken.`, { skip }, async (t) => {
    const server = createServer().listen(0, host)
    t.after(() => server.close())
    await once(server, 'listening')
    const taken = once(server, 'connection') as Promise<[Socket]>
    const client = connect((server.address() as AddressInfo).port, host).pause()
    const [socket] = await taken
    t.after(() => [socket, client].forEach((end) => end.destroy()))
    const unread = (): number => unreadBytes(socket) ?? -1
    await until(() => unread() === 0, 'nothing was sent')
    socket.write(Buffer.alloc(MANY_BYTES))
    await until(() => unread() > 0, 'nothing is unread')
    let read = 0
    client.on('data', ({ length }) => (read += length)).resume()
    await until(
      () => unread() === 0 && read === MANY_BYTES,
      () => `${unread()} unread, ${read} read`,
    )
    socket.destroy()
    assert.equal(unreadBytes(socket), null)
  })
}
