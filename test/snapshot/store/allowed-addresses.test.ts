/** Where a fetch may go: what the operator wrote down, and the public internet; nowhere else. */
import assert from 'node:assert/strict'
import dns, { type LookupAddress } from 'node:dns'
import { writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isPublic } from '../../../src/snapshot/store/allowed-addresses.ts'
import { fetchSources, type FetchOutcome } from '../../../src/builder/fetch/fetch-sources.ts'
import { readConfiguration } from '../../../src/sources/configuration.ts'
import { temporaryFolder } from '../../live.ts'
import { startOrigin, type Origin } from '../../builder/fetch/origin.ts'

const OTHERS = `
  0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254
  172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1
  224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8
  fc00::1 fdff::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 100::1 64:ff9b::127.0.0.1 64:ff9b::a00:1
  64:ff9b:1::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 4000::1 localhost 127.1 8.8.8.8.8
`
const PUBLIC = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
  169.253.255.255 172.15.255.255 172.32.0.0 192.167.255.255 223.255.255.255 2600::1 2a00:1450::1
  2001:4860:4860::8888 64:ff9b::8.8.8.8
`

test('Addresses of the public internet are distinguished from all others.', () => {
  for (const address of ['', ...OTHERS.trim().split(/\s+/)]) assert.equal(isPublic(address), false, address)
  for (const address of PUBLIC.trim().split(/\s+/)) assert.equal(isPublic(address), true, address)
})

async function fetchFrom(t: TestContext, url: string, hosts: object = {}): Promise<FetchOutcome> {
  const file = join(temporaryFolder(t), 'groundswell.config.json')
  const source = { name: 'Net', kind: 'csv', folder: 'net', fetch: [{ url, to: 'a.csv' }] }
  writeFileSync(file, JSON.stringify({ sources: [source], hosts }))
  const [outcome] = await fetchSources(readConfiguration(file, {}), {
    clock: () => 1_800_000_000,
    random: () => 0,
    report: { progress: () => {}, line: () => {} },
    pause: () => Promise.resolve(),
  })
  return outcome
}

const reasonOf = ({ fetched, failures }: FetchOutcome): string =>
  fetched === 1 ? 'fetched' : failures[0].reason
const NOT_PUBLIC = 'leads to an address that is not public; "private": true at its host in "hosts" allows it'

const redirectTo = (origin: Origin, location: string): void => {
  origin.faults.set('/a.csv', {
    fault: (response) => response.writeHead(302, { location }).end(),
    count: Infinity,
  })
}

test('A redirect leads to no address of this machine or its network, however it is written, unless it is allowed.', async (t) => {
  const origin = await startOrigin(t)
  const inside = await startOrigin(t)
  inside.files.set('/secret', 'a,b')
  const { host, port } = new URL(inside.url)
  const ways = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    'localhost',
    '[::ffff:127.0.0.1]',
    '[::1]',
  ]
  for (const name of ways) {
    redirectTo(origin, `http://${name}:${port}/secret`)
    assert.equal(reasonOf(await fetchFrom(t, `${origin.url}/a.csv`)), NOT_PUBLIC, name)
  }
  assert.deepEqual(inside.seen, [])
  redirectTo(origin, `${inside.url}/secret`)
  assert.equal(reasonOf(await fetchFrom(t, `${origin.url}/a.csv`, { [host]: { private: true } })), 'fetched')
  assert.equal(inside.seen.length, 1)
  // Another path at the address that the operator wrote down is the same address.
  origin.files.set('/b.csv', 'a,b')
  redirectTo(origin, '/b.csv')
  assert.equal(reasonOf(await fetchFrom(t, `${origin.url}/a.csv`)), 'fetched')
})

test('A name that leads to this machine is refused where it was looked up, unless it is allowed.', async (t) => {
  const origin = await startOrigin(t)
  origin.files.set('/a.csv', 'a,b')
  const { port } = new URL(origin.url)
  const { lookup } = dns
  let asked = 0
  const answer = (host: string, options: { all?: boolean }, done: (...found: unknown[]) => void): void => {
    asked++
    const found: LookupAddress[] = [{ address: host === 'data.example' ? '127.0.0.1' : '0.0.0.0', family: 4 }]
    if (options.all === true) done(null, found)
    else done(null, found[0].address, found[0].family)
  }
  t.after(() => {
    dns.lookup = lookup
    syncBuiltinESMExports()
  })
  dns.lookup = answer as unknown as typeof lookup
  syncBuiltinESMExports()
  const url = `http://data.example:${port}/a.csv`
  assert.equal(reasonOf(await fetchFrom(t, url)), NOT_PUBLIC)
  assert.deepEqual(origin.seen, [])
  assert.ok(asked > 0)
  assert.equal(reasonOf(await fetchFrom(t, url, { [`data.example:${port}`]: { private: true } })), 'fetched')
  assert.equal(origin.seen.length, 1)
})
