/**
 * Loading a snapshot against hashing the same bytes on all cores, which is the least a checked load can cost.
 * Each load has a process of its own: a further snapshot in the same one finds the memory of those before it
 * taken, its code compiled, and both in what is resident. Runs the compiled code (`npm run build` first),
 * alternating A B A B: `node bench/load.mjs DIR`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const ROUNDS = 3
/** Second argument of a process that measures one round. */
const ONE_ROUND = 'one-round'

if (!isMainThread) {
  const { createHash } = await import('node:crypto')
  const files = workerData.map((file) => readFileSync(file))
  parentPort.once('message', () => {
    for (const bytes of files) createHash('sha256').update(bytes).digest()
    parentPort.postMessage('done')
  })
  parentPort.postMessage('ready')
} else {
  const [dir, part] = process.argv.slice(2)
  if (part === ONE_ROUND) process.stdout.write(JSON.stringify(await measure(dir)))
  else {
    const measureElsewhere = () =>
      JSON.parse(
        execFileSync(process.execPath, [fileURLToPath(import.meta.url), dir, ONE_ROUND], {
          encoding: 'utf8',
        }),
      )
    console.table(Array.from({ length: ROUNDS }, measureElsewhere))
  }
}

/** One load in this process, and the hashing of the same bytes. */
async function measure(dir) {
  const { loadSnapshot } = await import('../dist/snapshot/read-snapshot.js')
  const began = performance.now()
  const snapshot = await loadSnapshot(dir)
  const load = performance.now() - began
  const bytes = snapshot.parts.reduce((sum, { entry }) => sum + entry.bytes, 0)
  const resident = process.memoryUsage().rss
  const hash = await hashOnAllCores(dir, snapshot)
  return {
    MB: Math.round(bytes / 1e6),
    'load, ms': Math.round(load),
    'hash on all cores, ms': Math.round(hash),
    'load / hash': Number((load / hash).toFixed(2)),
    'resident / data': Number((resident / bytes).toFixed(2)),
  }
}

/** Milliseconds for all cores together, files read beforehand. */
async function hashOnAllCores(dir, { parts }) {
  const shares = Array.from({ length: availableParallelism() }, () => ({ files: [], bytes: 0 }))
  for (const { entry } of parts.toSorted((a, b) => b.entry.bytes - a.entry.bytes)) {
    const share = shares.reduce((least, other) => (other.bytes < least.bytes ? other : least))
    share.files.push(join(dir, entry.file))
    share.bytes += entry.bytes
  }
  const workers = shares.map(({ files }) => new Worker(new URL(import.meta.url), { workerData: files }))
  const messages = () =>
    Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))))
  await messages()
  const began = performance.now()
  const done = messages()
  for (const worker of workers) worker.postMessage('go')
  await done
  const took = performance.now() - began
  await Promise.all(workers.map((worker) => worker.terminate()))
  return took
}
