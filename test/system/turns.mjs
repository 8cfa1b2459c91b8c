// Takes a lock again and again from several processes, and writes each turn into a journal by a rename from
// the lock's folder. Says each turn that is done, a line of JSON each. Arguments: the compiled lock.js, the
// folder, how many more.
import { spawn } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const [module, folder, lanes] = process.argv.slice(2)
for (let i = 1; i < Number(lanes); i++)
  spawn(process.execPath, [process.argv[1], module, folder, '1'], { stdio: 'inherit' })
const { lock } = await import(module)
const [path, inside, journal] = ['held.lock', 'inside', 'journal'].map((name) => join(folder, name))
const me = `${process.pid}/${performance.timeOrigin}`

for (let n = 0; ; n++) {
  const turn = `${me}/${n}`
  try {
    const held = lock(path, { patienceMs: 500, quietMs: 3000 })
    const before = readFileSync(journal, 'utf8')
    writeFileSync(inside, turn)
    await setTimeout(Math.random() * 30)
    const next = join(held.folder, 'next')
    const alone = readFileSync(inside, 'utf8') === turn
    writeFileSync(next, `${before}${turn}\n`)
    renameSync(next, journal)
    writeSync(1, `${JSON.stringify({ turn, alone })}\n`)
    held.release()
  } catch (error) {
    // Another holds it, or has taken it over.
    if (error.name !== 'LockError' && error.code !== 'ENOENT') throw error
  }
}
