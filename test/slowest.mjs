// A reporter that names the files that took longest, beside the one that lists the tests.
import { relative } from 'node:path'

const NAMED = 10

export default async function* slowest(events) {
  const milliseconds = new Map()
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 0 || data.file === undefined)
      continue
    milliseconds.set(data.file, (milliseconds.get(data.file) ?? 0) + data.details.duration_ms)
  }
  const order = [...milliseconds].toSorted(([, a], [, b]) => b - a)
  const sum = order.reduce((total, [, ms]) => total + ms, 0)
  yield `# ${order.length} files, ${Math.round(sum / 1000)} s of tests; the slowest:\n`
  for (const [file, ms] of order.slice(0, NAMED)) {
    yield `# ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}\n`
  }
}
