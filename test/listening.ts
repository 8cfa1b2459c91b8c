/** Servers that a test plays itself. */
import { once } from 'node:events'
import { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import type { TestContext } from 'node:test'

/** Resolves to the port of loopback on which a server listens until the test has ended. */
export async function listening(t: Pick<TestContext, 'after'>, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    if (server instanceof HttpServer) server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
