/**
 * Loading a snapshot against hashing the same bytes on all cores, which is the least a checked load can cost.
 * Runs the compiled code (`npm run build` first), alternating A B A B: `node bench/load.bench.mjs DIR`.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const ROUNDS = 3

if (!isMainThread) {
  const { createHash } = await import('node:crypto')
  const files = workerData.map((file) => readFileSync(file))
  parentPort.once('message', () => {
    for (const bytes of files) createHash('sha256').update(bytes).digest()
    parentPort.postMessage('done')
  })
  parentPort.postMessage('ready')
} else {
  const { loadSnapshot } = await import('../dist/snapshot/read.js')
  const dir = process.argv[2]
  const rows = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    const snapshot = await loadSnapshot(dir)
    const load = performance.now() - began
    const bytes = snapshot.parts.reduce((sum, { entry }) => sum + entry.bytes, 0)
    const resident = process.memoryUsage().rss
    rows.push({ load, hash: await hashOnAllCores(dir, snapshot), bytes, resident })
  }
  console.table(
    rows.map(({ load, hash, bytes, resident }) => ({
      MB: Math.round(bytes / 1e6),
      'load, ms': Math.round(load),
      'hash on all cores, ms': Math.round(hash),
      'load / hash': Number((load / hash).toFixed(2)),
      'resident / data': Number((resident / bytes).toFixed(2)),
    })),
  )
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
