// Runs test files in the order of its arguments, some at a time, each in a process of its own:
// `node --import=… test/pool.mjs CONCURRENCY FILE…`. Node's own `--test` sorts the files by name, and the
// longest of them may begin last. At the end it names the files that took longest.
import { relative, resolve } from 'node:path'
import { run } from 'node:test'
import { tap } from 'node:test/reporters'

const NAMED = 10

const [concurrency, ...files] = process.argv.slice(2)
const milliseconds = new Map()

function count({ nesting, file, details }) {
  if (nesting !== 0 || file === undefined) return
  milliseconds.set(file, (milliseconds.get(file) ?? 0) + details.duration_ms)
}

function nameSlowest() {
  const order = [...milliseconds].toSorted(([, a], [, b]) => b - a)
  const sum = order.reduce((total, [, ms]) => total + ms, 0)
  const rows = order
    .slice(0, NAMED)
    .map(([file, ms]) => `# ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}\n`)
  process.stdout.write(
    `# ${order.length} files, ${Math.round(sum / 1000)} s of tests; the slowest:\n${rows.join('')}`,
  )
}

run({ files: files.map((file) => resolve(file)), concurrency: Number(concurrency) })
  .on('test:pass', count)
  .on('test:fail', (data) => {
    count(data)
    if (data.todo === undefined || data.todo === false) process.exitCode = 1
  })
  .compose(tap)
  .on('end', nameSlowest)
  .pipe(process.stdout, { end: false })
