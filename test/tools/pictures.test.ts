/** The pictures of the README come from files of the repository. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BENCH_CHARTS, benchChart, benchFigures } from '../../tools/pictures/bench_chart.ts'

const TABLE = `### Results

2026-11-21, 2 cores (some, shared), Node 20.20.2, medians.

**10 buoys**, revision abc, \`npm run x\`:

| Case   | bytes |  cold (bar) |  hot |
| ------ | ----: | ----------: | ---: |
| detail |     1 | 0.93 (0.85) | 1.02 |
| series |     2 |        0.11 | 0.92 |

**20 buoys**:

| Case   | bytes |  cold (bar) |  hot |
| ------ | ----: | ----------: | ---: |
| detail |     1 | 0.10 (0.85) | 0.20 |
`

test('The chart takes its figures from the first table of the results.', () => {
  assert.deepEqual(benchFigures(TABLE), {
    caption: '10 buoys; 2026-11-21, 2 cores (some, shared), Node 20.20.2',
    cases: [
      { name: 'detail', cold: 0.93, hot: 1.02 },
      { name: 'series', cold: 0.11, hot: 0.92 },
    ],
  })
})

for (const [what, pattern] of [
  ['### Results', /no section "Results"/],
  ['2026-11-21', /no date/],
  ['  hot |', /no column "hot"/],
  ['0.11', /no share in the cell/],
] as const) {
  test(`A table without "${what.trim()}" is an error that says so.`, () => {
    assert.throws(() => benchFigures(TABLE.replace(what, what === '  hot |' ? ' warm |' : 'x')), pattern)
  })
}

test('The committed charts show the figures of bench/README.md.', () => {
  for (const theme of ['light', 'dark'] as const) {
    const isCurrent = readFileSync(BENCH_CHARTS[theme], 'utf8') === benchChart(theme)
    assert.ok(
      isCurrent,
      `the ${theme} chart shows other figures; run \`npm run pictures -- chart\` and commit it`,
    )
  }
})

test('Every picture is small.', () => {
  const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url))
  const names = readdirSync(folder)
  assert.ok(names.length >= 5, `${names.length} pictures`)
  for (const name of names) {
    const { length } = readFileSync(folder + name)
    assert.ok(length > 1000 && length <= 200_000, `${name} has ${length} bytes`)
  }
})
