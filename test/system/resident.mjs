// What lives in a container while a folder is hammered from several: loops that change keys, build snapshots
// and hold a lock, of which now and then one is killed, or is stopped for a while. Each says what it is
// about to do and what it has done, a line of JSON each.
//
//   resident.mjs DIST FOLDER HOST SECONDS SEED STILL_MS     the first process of a container
//   resident.mjs DIST FOLDER HOST keys|hold|build           one of its loops
import { spawn } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [dist, folder, host, role, seed, stillMs] = process.argv.slice(2)
const say = (line) =>
  writeSync(1, `${JSON.stringify({ who: `${host}/${process.pid}/${performance.timeOrigin}`, ...line })}\n`)

/** Numbers in [0, 1) that are the same for the same seed. */
function dice(from) {
  let state = from
  return () => ((state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) >>> 8) / 2 ** 23
}

const LOOPS = {
  async keys() {
    const { changeKeys, issueKey, revokeKey } = await import(join(dist, 'access/keys-file.js'))
    const { rotated, withQuota } = await import(join(dist, 'access/key-records.js'))
    const path = join(folder, 'keys.json')
    const roll = dice(process.pid + Math.floor(performance.timeOrigin))
    const now = 1_700_000_000
    const own = []
    for (let n = 0; ; n++) {
      const at = Math.floor(roll() * own.length)
      const what = own.length < 3 ? 'issue' : ['issue', 'rotate', 'revoke', 'quota'][Math.floor(roll() * 4)]
      const id = what === 'issue' ? null : own[at]
      const owner = `${host} ${process.pid} ${performance.timeOrigin} ${n}`
      say({ about: what, id, owner })
      try {
        if (what === 'issue') {
          const { record } = issueKey(path, { owner, now })
          own.push(record.id)
          say({ done: what, id: record.id, hash: record.hash, quota: record.quota })
        } else if (what === 'rotate') {
          const { record } = changeKeys(path, (records) => rotated(records, id, now))
          say({ done: what, id, hash: record.hash, quota: record.quota })
        } else if (what === 'quota') {
          const { hash, quota } = changeKeys(path, (records) => withQuota(records, id, 1 + n))
          say({ done: what, id, hash, quota })
        } else {
          revokeKey(path, id)
          own.splice(at, 1)
          say({ done: what, id })
        }
      } catch ({ name, message }) {
        say({ failed: what, id, reason: `${name}: ${message}` })
      }
      await sleep(roll() * 20)
    }
  },

  async hold() {
    const { lock } = await import(join(dist, 'system/lock.js'))
    const [path, inside, journal] = ['held.lock', 'inside', 'journal'].map((name) => join(folder, name))
    const roll = dice(process.pid + Math.floor(performance.timeOrigin))
    for (let n = 0; ; n++) {
      const turn = `${host}/${process.pid}/${performance.timeOrigin}/${n}`
      let held
      try {
        held = lock(path, { patienceMs: 500, longWork: true })
      } catch ({ name, message }) {
        say({ failed: 'hold', reason: `${name}: ${message}` })
        continue
      }
      const before = readFileSync(journal, 'utf8')
      writeFileSync(inside, turn)
      await sleep(roll() * 30)
      const next = join(held.folder ?? folder, `next-${process.pid}`)
      try {
        const alone = readFileSync(inside, 'utf8') === turn
        writeFileSync(next, `${before}${turn}\n`)
        say({ about: 'turn', turn })
        renameSync(next, journal)
        say({ done: 'turn', turn, alone })
      } catch ({ code }) {
        say({ fenced: 'turn', turn, code })
      }
      if (typeof held === 'function') held()
      else held.release()
    }
  },

  async build() {
    for (let n = 0; ; n++) {
      const asOf = new Date(
        1_700_000_000_000 + (host.charCodeAt(0) * 10_000 + n * 7 + (process.pid % 7)) * 60_000,
      )
      const args = ['build', '--source', 'demo:scale,buoys=3,days=2', '--as-of', asOf.toISOString()]
      const child = spawn(
        process.execPath,
        [
          join(dist, 'cli.js'),
          ...args,
          '--out',
          join(folder, 'snapshots'),
          '--keep',
          '10000',
          '--allow-loss',
          '100%',
        ],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      )
      let told = ''
      child.stderr.on('data', (chunk) => (told += chunk))
      const code = await new Promise((resolve) => child.once('close', resolve))
      say({
        built: /(?:published|unchanged) snapshot (\S+),/.exec(told)?.[1] ?? null,
        code,
        told: code === 0 ? '' : told,
      })
    }
  },
}

async function reside() {
  const roll = dice(Number(seed))
  const start = (loop) =>
    spawn(process.execPath, [process.argv[1], dist, folder, host, loop], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  const loops = ['keys', 'keys', 'hold', 'hold', 'build']
  const children = loops.map(start)
  const until = performance.now() + Number(role) * 1000
  while (performance.now() < until) {
    await sleep(500 + roll() * 1500)
    const at = Math.floor(roll() * 4)
    if (roll() < 0.7) {
      children[at].kill('SIGKILL')
      children[at] = start(loops[at])
    } else if (Number(stillMs) > 0) {
      const child = children[at]
      child.kill('SIGSTOP')
      say({ still: child.pid })
      setTimeout(() => child.kill('SIGCONT'), Number(stillMs))
    }
  }
  for (const child of children) child.kill('SIGKILL')
}

await (Object.hasOwn(LOOPS, role) ? LOOPS[role]() : reside())
process.exit(0)
