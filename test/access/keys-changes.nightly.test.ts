/** Keys that are issued, rotated, revoked and given another quota while a server is under load. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { revoked, rotated, withQuota } from '../../src/access/key-records.ts'
import { changeKeys, issueKey } from '../../src/access/keys-file.ts'
import { usagePath } from '../../src/access/usage-file.ts'
import { runCliWell, startLive, temporaryFolder } from '../live.ts'
import { until } from '../until.ts'
import { Connection, Load, smallSnapshot, startTurned, type Outcome } from './turned_clock.ts'

const snapshots = await smallSnapshot()
const NOON = Date.UTC(2026, 2, 27, 12) / 1000
const PATH = '/v2/buoys/1'
/** Milliseconds in which running servers follow a change. */
const FOLLOW = 1000

const isSuccess = ({ status }: Outcome): boolean => status === 200

test(
  'Servers under load follow every change of keys within a second, and no request is harmed.',
  { timeout: 600_000 },
  async (t) => {
    const live = await startLive(t, {
      snapshots,
      quota: 1_000_000,
      args: ['--admin-port=off', '--drain-time=0s'],
    })
    const { port, keyId, keysFile, key: first } = live
    const keysCommand = async (...words: string[]): Promise<string> => {
      const text = await runCliWell(['keys', ...words, '--keys', keysFile, '--json'])
      return (JSON.parse(text) as { key: string }).key
    }
    const load = new Load()
    const group = (key: string, connections: number): Outcome[][] => {
      // Gentle enough that the server's main thread gets its turn on two cores.
      const { from, to } = load.add(port, connections, PATH, () => key, 16)
      return load.answers.slice(from, to)
    }
    /**
     * Waits until each connection is answered so last, and none is answered otherwise later than a second.
     */
    const follows = async (answers: Outcome[][], isNow: (outcome: Outcome) => boolean): Promise<void> => {
      const since = performance.now()
      await until(() => answers.every((own) => own.length > 0 && isNow(own.at(-1)!)))
      await wait(200)
      const others = answers.flat().filter((outcome) => !isNow(outcome))
      const late = Math.max(0, ...others.map(({ receivedAt }) => receivedAt)) - since
      assert.ok(late < FOLLOW, `${late} ms late`)
    }
    /** One count: no number of an hour was sent twice. */
    const isCountedOnce = (answers: readonly Outcome[]): void => {
      const sent = new Set(answers.map(({ reset, remaining }) => `${reset} ${remaining}`))
      assert.equal(sent.size, answers.length)
    }

    const other = await keysCommand('issue', '--owner', 'other', '--quota', '900000')
    await wait(FOLLOW)
    const bystanders = group(other, 4)
    const old = group(first, 12)
    await until(() => old.flat().length > 100)
    const second = await keysCommand('rotate', keyId)
    const current = group(second, 12)
    await Promise.all([follows(old, ({ status }) => status === 401), follows(current, isSuccess)])
    isCountedOnce([...old, ...current].flat().filter(isSuccess))
    await keysCommand('set-quota', keyId, '5')
    await follows(current, ({ status, limit, remaining }) => status === 429 && limit === 5 && remaining === 0)
    await keysCommand('set-quota', keyId, '800000')
    await follows(current, ({ status, limit }) => status === 200 && limit === 800_000)
    isCountedOnce(current.flat().filter(({ status, limit }) => status === 200 && limit === 800_000))

    await keysCommand('revoke', keyId)
    await follows(current, ({ status }) => status === 401)

    await load.stop()
    // No connection broke, or `stop` had thrown; nobody met a fault, and other keys met nothing at all.
    const statuses = new Set(load.answers.flat().map(({ status }) => status))
    assert.deepEqual(statuses, new Set([200, 401, 429]))
    assert.ok(bystanders.flat().every(({ status, limit }) => status === 200 && limit === 900_000))
    assert.equal(await live.stop(), 0)
    const usage = readFileSync(usagePath(keysFile), 'utf8')
    const { stdout, stderr } = live.output()
    const written = `${stdout}${stderr}${usage}${readFileSync(keysFile, 'utf8')}`
    for (const text of [first, second, other]) assert.ok(!written.includes(text.slice(0, 20)))
  },
)

test(
  'Keys that change while the workers are starting are known to all of them.',
  { timeout: 600_000 },
  async (t) => {
    const keysFile = join(temporaryFolder(t), 'keys.json')
    const kept = issueKey(keysFile, { owner: 'kept', now: NOON })
    const ended = issueKey(keysFile, { owner: 'ended', now: NOON })
    const starting = startTurned(t, NOON, snapshots, keysFile, ['--workers=3'])
    // Long enough for the first worker to have begun, and not for the last one to be there.
    await wait(100)
    const { key } = changeKeys(keysFile, (records) => rotated(records, kept.record.id, NOON))
    changeKeys(keysFile, (records) => revoked(records, ended.record.id))
    const { server } = await starting
    // A look at the file and a message take less than a second, also when the start was quick.
    await wait(FOLLOW)
    const statuses = new Set<string>()
    for (let i = 0; i < 24; i++) {
      // Each connection ends up with one of the workers.
      const connection = new Connection(server.port)
      const received: number[] = []
      for (const text of [key, kept.key, ended.key]) received.push((await connection.ask(PATH, text)).status)
      statuses.add(received.join(' '))
      connection.close()
    }
    assert.deepEqual([...statuses], ['200 401 401'])
  },
)

test(
  'The count of an hour outlives a stop, a kill gives back what was not yet written, and neither takes anything away.',
  { timeout: 600_000 },
  async (t) => {
    const keysFile = join(temporaryFolder(t), 'keys.json')
    const { key, record } = issueKey(keysFile, { owner: 'test', quota: 100, now: NOON })
    const ask = async (port: number, times: number): Promise<Outcome[]> => {
      const connection = new Connection(port)
      const answers: Outcome[] = []
      for (let i = 0; i < times; i++) answers.push(await connection.ask(PATH, key))
      connection.close()
      return answers
    }
    const one = await startTurned(t, NOON + 10, snapshots, keysFile, ['--workers=1'])
    assert.equal((await ask(one.server.port, 30)).at(-1)?.remaining, 70)
    await one.server.stop()
    const stopped = readFileSync(usagePath(keysFile), 'utf8')
    const two = await startTurned(t, NOON + 20, snapshots, keysFile, ['--workers=1'])
    const [next] = await ask(two.server.port, 1)
    assert.equal(next.remaining, 69)
    changeKeys(keysFile, (records) => withQuota(records, record.id, 40))
    await until(() => readFileSync(usagePath(keysFile), 'utf8') !== stopped)
    await wait(FOLLOW)
    const rest = await ask(two.server.port, 12)
    assert.equal(rest.filter(isSuccess).length, 9)
    await two.server.stop()
    // What a kill leaves: the file as it was written last.
    writeFileSync(usagePath(keysFile), stopped)
    const three = await startTurned(t, NOON + 30, snapshots, keysFile, ['--workers=1'])
    assert.equal((await ask(three.server.port, 12)).filter(isSuccess).length, 10)
    three.set(NOON + 3600)
    assert.equal((await ask(three.server.port, 1))[0].remaining, 39)
    const lines = [...one.log, ...two.log, ...three.log]
    assert.deepEqual(
      lines.filter((line) => line.includes('gsw_')),
      [],
    )
  },
)
