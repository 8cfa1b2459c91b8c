/** A server under load while snapshots are swapped: answers are checked against their snapshot. */
import assert from 'node:assert/strict'
import { before, test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { adminOf, Client, type Reply, startLive } from '../live.ts'
import { PAUSE_MS } from './drill.ts'
import { amount, asOf, twoSnapshots } from './folder.ts'

interface Load {
  answers: number
  failures: string[]
  /** Answers by the snapshot they name. */
  bySnapshot: Map<string, number>
}

/** Asks again and again over `connections` until `stop` says so, and checks each answer with `fault`. */
async function load(
  client: Client,
  connections: number,
  isOver: () => boolean,
  fault: (reply: Reply) => string | null,
): Promise<Load> {
  const result: Load = { answers: 0, failures: [], bySnapshot: new Map() }
  const ask = async (): Promise<void> => {
    while (!isOver()) {
      try {
        const reply = await client.get('/buoys?active_only=false&per_page=20')
        result.answers++
        const id = String(reply.headers['x-snapshot-id'])
        result.bySnapshot.set(id, (result.bySnapshot.get(id) ?? 0) + 1)
        const wrong = reply.status === 200 ? fault(reply) : `status ${reply.status}`
        if (wrong !== null) result.failures.push(wrong)
      } catch (error) {
        result.failures.push(String(error))
      }
      await setTimeout(PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: connections }, ask))
  return result
}

/** The newest reading in each snapshot, which gives away the one that a body was made from. */
function tornCheck(newest: ReadonlyMap<string, string>): (reply: Reply) => string | null {
  return ({ headers, text }) => {
    const id = String(headers['x-snapshot-id'])
    const found = newestIn(text)
    return found === newest.get(id) ? null : `a body with ${found} under the header of ${id}`
  }
}

function newestIn(text: string): string {
  const { data } = JSON.parse(text) as { data: { buoys: { last_reading_time: string }[] } }
  return data.buoys
    .map((buoy) => buoy.last_reading_time)
    .toSorted()
    .at(-1)!
}

async function status(admin: string): Promise<{
  snapshot: { id: string }
  reload: { last_error: string | null; loaded: number; refused: number }
  workers: { serving: number; replaced: number }
}> {
  return (await (await fetch(`${admin}/status`)).json()) as Awaited<ReturnType<typeof status>>
}

/** Resolves when the server has loaded so many snapshots. */
async function made(admin: string, loaded: number): Promise<void> {
  while ((await status(admin)).reload.loaded < loaded) await setTimeout(25)
}

let two: Awaited<ReturnType<typeof twoSnapshots>>
before(async (t) => {
  two = await twoSnapshots(t as TestContext)
})

/** The newest reading of each snapshot, learnt one at a time. */
async function learn(client: Client): Promise<Map<string, string>> {
  const newest = new Map<string, string>()
  for (const i of [0, 1]) {
    two.announce(i)
    for (;;) {
      const { headers, text } = await client.get('/buoys?active_only=false&per_page=20')
      if (headers['x-snapshot-id'] !== two.ids[i]) continue
      newest.set(two.ids[i], newestIn(text))
      break
    }
  }
  assert.deepEqual(
    [...newest.values()].map((time) => time <= asOf(24)),
    [true, true],
  )
  assert.equal(new Set(newest.values()).size, 2)
  return newest
}

test('Swapping five times a second under load fails no request and tears no answer.', async (t) => {
  const seconds = amount(5, 60)
  const live = await startLive(t, { snapshots: two.folder, args: ['--admin-port=0'] })
  const client = new Client(live, live.key, 16)
  const admin = await adminOf(live)
  const atFirst = (await status(admin)).reload.loaded
  const newest = await learn(client)
  // It counts as loaded a little after the first answer from it.
  const loadedBefore = atFirst + 2
  await made(admin, loadedBefore)
  let over = false
  const loaded = load(client, 16, () => over, tornCheck(newest))
  let swaps = 0
  const began = performance.now()
  // A busy machine makes few of them in that time.
  for (; swaps < 4 || performance.now() < began + seconds * 1000; swaps++) {
    two.announce(swaps % 2)
    await setTimeout(200)
    // A busy machine takes longer than the time between two of them.
    await made(admin, loadedBefore + swaps + 1)
  }
  over = true
  const { answers, failures, bySnapshot } = await loaded
  const { reload } = await status(admin)
  t.diagnostic(
    `${swaps} swaps announced, ${reload.loaded - loadedBefore} made, ${answers} answers, ${failures.length} failures`,
  )
  assert.deepEqual(failures.slice(0, 3), [])
  assert.equal(reload.refused, 0)
  assert.equal(reload.loaded - loadedBefore, swaps)
  assert.equal(bySnapshot.size, 2)
})
