/** What the package exports: a server within a program, and a reader of snapshots. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { issueKey } from '../../src/access/keys-file.ts'
import { openSnapshot, startServer, type Reading } from '../../src/library.ts'
import { OF_THE_COMMAND, optionName } from '../../src/server/start-server.ts'
import { SERVE_SETTINGS } from '../../src/server/serve-settings.ts'
import { fieldOf } from '../fields.ts'
import { runCliWell, temporaryFolder } from '../live.ts'

const FIXTURES = fileURLToPath(new URL('../../data/fixtures/small', import.meta.url))

interface WireReading {
  time: string
  significient_height: number
  maximum_height: number | null
  period: number | null
  direction: number | null
  water_temperature: number | null
}

const asWire = (reading: Reading): WireReading => ({
  time: reading.time.toISOString().replace('.000Z', 'Z'),
  significient_height: reading.significantHeight,
  maximum_height: reading.maximumHeight,
  period: reading.period,
  direction: reading.direction,
  water_temperature: reading.waterTemperature,
})

test('The reader of a snapshot has what a server in the same program answers.', async (t) => {
  const data = temporaryFolder(t)
  await runCliWell(['build', '--source', `csv:${FIXTURES}`, '--data', data])
  const { key } = issueKey(join(data, 'keys.json'), { owner: 'a', now: Date.now() / 1000 })
  const log: string[] = []
  const server = await startServer({
    data,
    port: 0,
    adminPort: 'off',
    workers: 1,
    log: (line) => log.push(line),
  })
  t.after(() => server.stop())
  const get = async (path: string): Promise<{ [name: string]: unknown }> => {
    const reply = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(reply.status, 200, path)
    return ((await reply.json()) as { data: { [name: string]: unknown } }).data
  }
  const snapshot = await openSnapshot(join(data, 'snapshots'))
  assert.ok(
    log.some((line) => line.includes(snapshot.id)),
    log.join('\n'),
  )
  const { buoys } = (await get('/buoys?active_only=false&per_page=500')) as { buoys: { id: number }[] }
  assert.deepEqual(
    fieldOf(snapshot.buoys, 'id'),
    buoys.map(({ id }) => id).toSorted((a, b) => a - b),
  )
  let compared = 0
  for (const buoy of snapshot.buoys) {
    const { readings, count } = (await get(`/buoys/${buoy.slug}/readings?order=asc&per_page=100`)) as {
      readings: WireReading[]
      count: number
    }
    assert.equal(buoy.readingCount, count, buoy.slug)
    const own = [...snapshot.readings(buoy)].map(asWire)
    assert.equal(own.length, count)
    // The reader leaves out what follows from the rest: ids, energy, points of the compass.
    const served = readings.map((reading) =>
      Object.fromEntries(Object.keys(own[0]).map((name) => [name, reading[name as keyof WireReading]])),
    )
    assert.deepEqual(own.slice(0, 100), served, buoy.slug)
    compared += served.length
    // A range begins with its first time and ends before its last.
    const [from, until] = [own[1]?.time, own[3]?.time]
    if (until !== undefined) {
      const within = [...snapshot.readings(buoy.id, { from: new Date(from), until: new Date(until) })]
      assert.deepEqual(within.map(asWire), own.slice(1, 3))
    }
    const newest = snapshot.newestReading(buoy.slug)
    assert.deepEqual(newest === null ? undefined : asWire(newest), own.at(-1))
    assert.equal(snapshot.buoy(buoy.slug), buoy)
  }
  assert.ok(compared > 20, `${compared} readings`)
  assert.equal(snapshot.buoy('nowhere'), null)
  assert.throws(() => snapshot.readings('nowhere'), /^RangeError: the snapshot has no buoy "nowhere"$/)
  const wrong = { from: new Date('x') }
  assert.throws(
    () => snapshot.readings(snapshot.buoys[0], wrong),
    /^RangeError: from: expected a valid Date$/,
  )
})

test('What is not there, or is not whole, is refused by name.', async (t) => {
  const data = temporaryFolder(t)
  await assert.rejects(openSnapshot(data), {
    name: 'SnapshotError',
    message: `${data}: there is no snapshot in this folder`,
  })
  writeFileSync(join(data, 'manifest.msgpack'), 'no manifest')
  await assert.rejects(openSnapshot(data), { name: 'SnapshotError', message: /manifest\.msgpack/ })
  const wrong: [options: object, message: RegExp][] = [
    [{ data, prot: 1 }, /^unknown option prot; there are data, snapshots/],
    [{ data, port: 'x' }, /^port: expected a whole number from 0 to 65535$/],
    [{ data, basePath: 'v2' }, /^basePath: expected a path/],
    [{ port: 0 }, /^snapshots: expected a path, or the option data$/],
  ]
  for (const [options, message] of wrong)
    await assert.rejects(startServer(options), { name: 'UsageError', message })
})

test('The options of the library are those of serve.', () => {
  const text = readFileSync(new URL('../../src/server/start-server.ts', import.meta.url), 'utf8')
  const declared = /interface ServerOptions \{([^]*?)\n\}/.exec(text)![1]
  const names = [...declared.matchAll(/readonly (\w+)\?:/g)].map(([, name]) => name)
  assert.deepEqual(
    names.toSorted(),
    [
      ...Object.keys(SERVE_SETTINGS)
        .filter((option) => !OF_THE_COMMAND.has(option))
        .map((option) => optionName(option)),
      'log',
      'signal',
    ].toSorted(),
    'declare each option of serve in ServerOptions of src/server/start-server.ts',
  )
})
