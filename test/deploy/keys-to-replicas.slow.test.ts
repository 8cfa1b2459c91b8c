/** The lines of the balancers' files that send each key to one replica: which replica answers which key. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../src/http/port.ts'
import { temporaryFolder } from '../live.ts'
import { findTool, missingTool } from '../programs.ts'
import { until } from '../until.ts'

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url))
// Plain JavaScript, without types.
const { BALANCERS, REPLICA_HOSTS, withPorts } = (await import(join(DEPLOY, 'fleet', 'balancers.mjs'))) as {
  BALANCERS: { [name: string]: { shipped: string; installs: string; run: Run } }
  REPLICA_HOSTS: string[]
  withPorts: (text: string, ports: object) => string
}
type Run = (file: string, folder: string) => [program: string, args: string[]]
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
  const { shipped, installs, run } = BALANCERS[name]
  test(
    `${name} sends each key to one replica, and moves only the keys of one that goes.`,
    { skip: missingTool(name, installs) },
    async (t) => {
      const ports = {
        listen: await findFreePort('127.0.0.1', 0),
        api: await findFreePort(REPLICA_HOSTS[0], 0),
        admin: await findFreePort(REPLICA_HOSTS[0], 0),
      }
      const ends = await startReplicas(t, ports.api, ports.admin)
      let text = readFileSync(join(DEPLOY, shipped), 'utf8')
      for (const [before, after] of CHANGES[name]) {
        assert.ok(text.includes(before), before)
        text = text.replace(before, after)
      }
      const folder = temporaryFolder(t)
      const file = join(folder, shipped)
      writeFileSync(file, withPorts(text, ports))
      const [program, args] = run(file, folder)
      const child = spawn(findTool(program) ?? program, args, { stdio: 'ignore' })
      t.after(() => child.kill('SIGKILL'))
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
