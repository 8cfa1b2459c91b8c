/** Threads that count in shared memory at the same time. */
import { Worker } from 'node:worker_threads'

/**
 * Runs `body` in worker threads that start together. It has `counters`, an instance of the class `name` of
 * `src/FILE`, made of `buffer`, the thread's number and what `more` says; and pushes numbers to `hits`.
 * @returns what each thread has pushed
 */
export async function inThreads(
  threads: number,
  [file, name, more = '']: [file: string, name: string, more?: string],
  buffer: SharedArrayBuffer,
  body: string,
): Promise<number[][]> {
  const gate = new SharedArrayBuffer(4)
  const code = `
    const { workerData, parentPort } = require('node:worker_threads')
    import(workerData.setup).then(() => import(workerData.file)).then(({ ${name} }) => {
      const counters = new ${name}(workerData.buffer, workerData.thread, ${more})
      const gate = new Int32Array(workerData.gate)
      Atomics.add(gate, 0, 1)
      while (Atomics.load(gate, 0) < workerData.threads) {}
      const hits = []
      ${body}
      parentPort.postMessage(hits)
    })`
  const workerData = {
    // Node preloads nothing where the code of a thread is a text.
    setup: new URL('../setup.mjs', import.meta.url).href,
    file: new URL(`../../src/${file}`, import.meta.url).href,
    buffer,
    gate,
    threads,
  }
  return Promise.all(
    Array.from({ length: threads }, (_, thread) => {
      const worker = new Worker(code, { eval: true, workerData: { ...workerData, thread } })
      return new Promise<number[]>((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
      })
    }),
  )
}
