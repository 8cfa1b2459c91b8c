/** Threads that count in shared memory at the same time. */
import { Worker } from 'node:worker_threads'

/**
 * Runs `body` in worker threads that start together. It has `counters`, an instance of the class `name` of
 * `src/access/FILE` on `buffer`, and pushes numbers to `hits`.
 * @returns what each thread has pushed
 */
export async function inThreads(
  threads: number,
  [file, name]: [file: string, name: string],
  buffer: SharedArrayBuffer,
  body: string,
): Promise<number[][]> {
  const gate = new SharedArrayBuffer(4)
  const code = `
    const { workerData, parentPort } = require('node:worker_threads')
    import(workerData.tsx).then(async ({ register }) => {
      register()
      const { ${name} } = await import(workerData.file)
      const counters = new ${name}(workerData.buffer)
      const gate = new Int32Array(workerData.gate)
      Atomics.add(gate, 0, 1)
      while (Atomics.load(gate, 0) < workerData.threads) {}
      const hits = []
      ${body}
      parentPort.postMessage(hits)
    })`
  const workerData = {
    tsx: import.meta.resolve('tsx/esm/api'),
    file: new URL(`../../src/access/${file}`, import.meta.url).href,
    buffer,
    gate,
    threads,
  }
  return Promise.all(
    Array.from({ length: threads }, () => {
      const worker = new Worker(code, { eval: true, workerData })
      return new Promise<number[]>((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
      })
    }),
  )
}
