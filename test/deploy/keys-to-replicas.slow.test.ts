/** The lines of the balancers' files that send each key to one replica: which replica answers which key. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import { missingTool } from '../programs.ts'
import { until } from '../until.ts'
import { BALANCERS, freePorts, REPLICA_HOSTS, startBalancer } from './balancers.ts'

const KEYS = Array.from({ length: 300 }, (_, i) => `Bearer gsw_${String(i).padStart(49, '0')}`)

/** What a file says for each key to go to one replica, in place of what it says. */
const CHANGES = {
  haproxy: [
    ['    balance leastconn\n', ''],
    [
      '    #balance hdr(authorization)\n    #hash-type consistent\n',
      '    balance hdr(authorization)\n    hash-type consistent\n',
    ],
  ],
  nginx: [
    ['    least_conn;\n', ''],
    ['    #hash $groundswell_client consistent;\n', '    hash $groundswell_client consistent;\n'],
  ],
} as const

/** Replicas that answer their address, on the API's port and on the admin port. */
async function startReplicas(t: TestContext, api: number, admin: number): Promise<(() => void)[]> {
  const ends: (() => void)[] = []
  for (const host of REPLICA_HOSTS) {
    const servers = [api, admin].map((port) =>
      createServer((_, response) => response.end(host)).listen(port, host),
    )
    const end = (): void => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    }
    t.after(end)
    ends.push(end)
    await until(() => servers.every(({ listening }) => listening))
  }
  return ends
}

for (const name of ['haproxy', 'nginx'] as const) {
  test(
    `${name} sends each key to one replica, and moves only the keys of one that goes.`,
    { skip: missingTool(name, BALANCERS[name].installs) },
    async (t) => {
      const ports = await freePorts()
      const ends = await startReplicas(t, ports.api, ports.admin)
      startBalancer(t, name, ports, (shipped) => {
        let text = shipped
        for (const [before, after] of CHANGES[name]) {
          assert.ok(text.includes(before), before)
          text = text.replace(before, after)
        }
        return text
      })
      const ask = async (authorization?: string): Promise<string> => {
        const headers = authorization === undefined ? {} : { authorization }
        return (await fetch(`http://127.0.0.1:${ports.listen}/v2/countries`, { headers })).text()
      }
      const isReplica = (answer: string): boolean => REPLICA_HOSTS.includes(answer)
      await until(async () => isReplica(await ask().catch(() => '')))
      const replicaOf = async (): Promise<string[]> => {
        const found: string[] = []
        for (const key of KEYS) found.push(await ask(key))
        return found
      }
      const counts = (found: readonly string[]): number[] =>
        REPLICA_HOSTS.map((host) => found.filter((each) => each === host).length)
      // HAProxy may not have checked all of them yet.
      let first: string[] = []
      await until(async () => {
        const before = first
        first = await replicaOf()
        return first.every(isReplica) && first.join() === before.join()
      })
      t.diagnostic(`keys of the replicas: ${counts(first).join(', ')}`)
      for (const count of counts(first)) assert.ok(count > KEYS.length / 6, counts(first).join())
      ends[0]()
      let second: string[] = []
      await until(async () => {
        second = await replicaOf()
        return second.every((each) => isReplica(each) && each !== REPLICA_HOSTS[0])
      })
      t.diagnostic(`without the first: ${counts(second).join(', ')}`)
      for (const [i, before] of first.entries()) {
        if (before !== REPLICA_HOSTS[0]) assert.equal(second[i], before)
      }
      for (const count of counts(second).slice(1)) assert.ok(count > KEYS.length / 4, counts(second).join())
    },
  )
}
