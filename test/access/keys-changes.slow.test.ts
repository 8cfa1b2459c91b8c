/** Keys that are issued, rotated, revoked and given another quota while a server is under load. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { rotated, withQuota } from '../../src/access/key-records.ts'
import { changeKeys, issueKey, revokeKey } from '../../src/access/keys-file.ts'
import { usagePath } from '../../src/access/usage-file.ts'
import { runCliWell, startLive, temporaryFolder } from '../live.ts'
import { until } from '../until.ts'
import { Connection, Load, smallSnapshot, startTurned, type Outcome } from './turned_clock.ts'

const snapshots = await smallSnapshot()
const NOON = Date.UTC(2026, 2, 27, 12) / 1000
const PATH = '/v2/buoys/1'
/** Milliseconds in which running servers follow a change. */
const FOLLOW = 1000

/** When the answers that `holds` came, by `performance.now()`. */
const received = (answers: readonly Outcome[][], holds: (outcome: Outcome) => boolean): number[] =>
  answers
    .flat()
    .filter(holds)
    .map(({ receivedAt }) => receivedAt)
const lastReceived = (...of: Parameters<typeof received>): number => Math.max(0, ...received(...of))

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
    const keysCommand = (...words: string[]) =>
      runCliWell(['keys', ...words, '--keys', keysFile, '--json']).then(
        (text) => JSON.parse(text) as { key: string },
      )
    const other = (await keysCommand('issue', '--owner', 'other', '--quota', '900000')).key
    const load = new Load()
    // Gentle enough that the server's main thread gets its turn on two cores.
    const PAUSE = 16
    const group = (key: string, connections: number): Outcome[][] => {
      const { from, to } = load.add(port, connections, PATH, () => key, PAUSE)
      return load.answers.slice(from, to)
    }
    const bystanders = group(other, 4)
    await until(() => bystanders.flat().some(isSuccess))
    const old = group(first, 12)
    await until(() => old.flat().length > 100)

    await t.test(
      'A rotated key ends and its successor begins within a second, with the count kept.',
      async () => {
        const second = (await keysCommand('rotate', keyId)).key
        const returned = performance.now()
        const fresh = group(second, 12)
        await until(() => old.every((own) => own.at(-1)?.status === 401))
        await until(() => fresh.every((own) => own.at(-1)?.status === 200))
        await wait(200)
        const began = Math.min(...received(fresh, isSuccess))
        assert.ok(began - returned < FOLLOW, `the new key's first success came after ${began - returned} ms`)
        for (const [answers, ended] of [
          [old, isSuccess],
          [fresh, (outcome: Outcome) => !isSuccess(outcome)],
        ] as const) {
          const late = lastReceived(answers, ended) - returned
          assert.ok(late < FOLLOW, `${late} ms after rotating`)
        }
        for (const [answers, refusedFirst] of [
          [old, false],
          [fresh, true],
        ] as const) {
          for (const own of answers) {
            const turns = own.filter(({ status }, i) => i > 0 && status !== own[i - 1].status).length
            assert.ok(turns <= 1, 'a key came and went')
            if (turns === 1) assert.equal(own[0].status === 401, refusedFirst)
          }
        }
        // One count for both texts: no number of an hour was sent twice.
        const outcome = [...old, ...fresh].flat().filter(isSuccess)
        assert.equal(
          new Set(outcome.map(({ reset, remaining }) => `${reset} ${remaining}`)).size,
          outcome.length,
        )
        const hour = outcome.at(-1)?.reset
        const lowest = (answers: Outcome[][]): number =>
          Math.min(
            ...answers.flat().flatMap((one) => (isSuccess(one) && one.reset === hour ? [one.remaining] : [])),
          )
        assert.ok(lowest(fresh) < lowest(old), 'the new key went on counting where the old one stood')
        for (const told401 of old.flat().filter(({ status }) => status === 401)) {
          assert.match(told401.body, /"error":"unauthorized","message":"Invalid API key"/)
        }
      },
    )

    const current = load.answers.slice(-12)

    await t.test('A quota that is lowered refuses, one that is raised gives the difference.', async () => {
      await keysCommand('set-quota', keyId, '5')
      const lowered = performance.now()
      await until(() => current.every((own) => own.at(-1)?.status === 429))
      await wait(100)
      const late = lastReceived(current, ({ limit }) => limit === 1_000_000) - lowered
      assert.ok(late < FOLLOW, `${late} ms after lowering`)
      for (const outcome of current.flat().filter(({ status }) => status === 429)) {
        assert.deepEqual([outcome.limit, outcome.remaining], [5, 0])
      }
      await keysCommand('set-quota', keyId, '800000')
      const raised = performance.now()
      await until(() => current.every((own) => own.at(-1)?.status === 200))
      const still = lastReceived(current, ({ limit }) => limit === 5) - raised
      assert.ok(still < FOLLOW, `${still} ms after raising`)
      const outcome = current.flat().filter(({ limit, status }) => limit === 800_000 && status === 200)
      assert.equal(
        new Set(outcome.map(({ reset, remaining }) => `${reset} ${remaining}`)).size,
        outcome.length,
      )
    })

    await t.test('A broken keys file leaves the last good one in force and is reported once.', async () => {
      const good = readFileSync(keysFile, 'utf8')
      const warnings = () => live.output().stderr.match(/the last good keys stay in force/g)?.length ?? 0
      assert.equal(warnings(), 0)
      writeFileSync(keysFile, `${good.slice(0, 60)} ${other}`)
      await until(() => warnings() > 0)
      const asked = bystanders.flat().length
      await until(() => bystanders.flat().length > asked + 200)
      assert.equal(warnings(), 1)
      writeFileSync(keysFile, good)
      // The next change is followed again.
      await keysCommand('set-quota', keyId, '700000')
      await until(() => current.every((own) => own.at(-1)?.limit === 700_000))
      assert.equal(warnings(), 1)
    })

    await t.test('A revoked key ends within a second.', async () => {
      await keysCommand('revoke', keyId)
      const returned = performance.now()
      await until(() => current.every((own) => own.at(-1)?.status === 401))
      await wait(100)
      const late = lastReceived(current, isSuccess) - returned
      assert.ok(late < FOLLOW, `${late} ms after revoking`)
    })

    await load.stop()
    // No connection broke, or `stop` had thrown; nobody met a fault, and other keys met nothing at all.
    const statuses = new Set(load.answers.flat().map(({ status }) => status))
    assert.deepEqual(statuses, new Set([200, 401, 429]))
    const known = bystanders.map((own) => own.slice(own.findIndex(isSuccess)))
    assert.ok(
      known.flat().every(({ status, limit }) => status === 200 && limit === 900_000),
      'another key was harmed',
    )
    assert.equal(await live.stop(), 0)

    const [listed] = (await runCliWell(['keys', 'list', '--keys', keysFile, '--json'])).trim().split('\n')
    const outcome = bystanders.flat().filter(isSuccess)
    const hour = Math.max(...outcome.map(({ reset }) => reset))
    const used = outcome.filter(({ reset }) => reset === hour).length
    assert.ok(Date.now() / 1000 > hour || listed.includes(`:${used}`), `${used} calls in ${listed}`)
    const usage = readFileSync(usagePath(keysFile), 'utf8')
    const { stdout, stderr } = live.output()
    const written = `${stdout}${stderr}${usage}${listed}${readFileSync(keysFile, 'utf8')}`
    for (const text of [first, other]) {
      assert.ok(!written.includes(text), 'a key stands in what the server wrote')
      assert.ok(!written.includes(text.slice(0, 20)), 'a part of a key stands in what the server wrote')
    }
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
    revokeKey(keysFile, ended.record.id)
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
