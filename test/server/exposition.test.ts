/** The table of metrics, its page, and the text that a scraper reads. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { METRICS_PAGE, metricsPage } from '../../tools/metrics.ts'
import { exposition, MOST_SERIES } from '../../src/server/metrics.ts'
import { METRICS } from '../../src/server/metrics-table.ts'
import { missingTool } from '../programs.ts'
import { someFigures } from './metrics_figures.ts'
import { parseExposition } from './metrics_text.ts'

test('docs/metrics.md is what the table says.', () => {
  assert.equal(
    readFileSync(METRICS_PAGE, 'utf8'),
    metricsPage(),
    'run `npm run metrics` and commit what it changes',
  )
})

test('Every metric of the table has a value where there is all there can be, and a help that is one line.', () => {
  for (const { name, help, labels, read } of METRICS) {
    const samples = read(someFigures())
    assert.ok(samples.length > 0, name)
    for (const sample of samples) assert.equal(sample.labels.length, labels.length, name)
    assert.match(help, /^[A-Z][^\n|]*[^.]$/, name)
  }
  assert.equal(new Set(METRICS.map(({ name }) => name)).size, METRICS.length)
})

test('Names follow the conventions: our own begin with groundswell_, counters end with _total, units are base units.', () => {
  const foreign = METRICS.map(({ name }) => name).filter((name) => !/^(groundswell|process)_/.test(name))
  assert.deepEqual(foreign, ['http_server_request_duration_seconds'])
  for (const { name, type, unit, labels } of METRICS) {
    assert.match(name, /^[a-z][a-z0-9_]*$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    assert.doesNotMatch(name, /_(ms|millis\w*|micros\w*|kb|mb|minutes|hours|percent)(_|$)/)
    if (unit !== '') assert.match(name, new RegExp(`_${unit}(_total)?$`))
    for (const label of labels) {
      assert.match(label, /^[a-z][a-z0-9_]*$/, name)
      assert.doesNotMatch(label, /key|buoy|address|path|^le$/, name)
    }
  }
})

test('Where there is no snapshot, no report and no schedule, their metrics are left out.', () => {
  const supply = { members: {}, builds: null, isUp: null }
  const text = exposition(METRICS, someFigures({ snapshot: null, networks: [], report: null, supply }))
  assert.doesNotMatch(text, /groundswell_(snapshot_age_seconds|builds_total|input_rows)/)
  assert.match(text, /^groundswell_ready 1$/m)
})

test('A name from outside cannot end its value or its line, and twice the same label is one series.', () => {
  const long = 'x'.repeat(1000)
  const names = ['a"} 1\ngroundswell_forged 2', 'b\\', `\u2028\u0000\r\u{1F30A}é`, `${long}1`, `${long}2`]
  const networks = names.map((name) => [name, 1] as const)
  const text = exposition(METRICS, someFigures({ networks }))
  const samples = parseExposition(text)
  assert.ok(!samples.some(({ name }) => name === 'groundswell_forged'))
  const found = samples.filter(({ name }) => name === 'groundswell_source_newest_reading_age_seconds')
  assert.deepEqual(
    found.map(({ labels }) => labels['source']),
    ['a"} 1\uFFFDgroundswell_forged 2', 'b\\', '\uFFFD\uFFFD\uFFFD\u{1F30A}é', 'x'.repeat(120)],
  )
  // However many names there are.
  const many = Array.from({ length: 100_000 }, (_, i) => [`n${i}`, 1] as const)
  const series = parseExposition(exposition(METRICS, someFigures({ networks: many })))
  const ages = series.filter(({ name }) => name === 'groundswell_source_newest_reading_age_seconds')
  assert.equal(ages.length, MOST_SERIES)
})

test(
  'promtool finds nothing to complain about in all metrics together.',
  { skip: missingTool('promtool', 'prometheus') },
  () => {
    const text = exposition(METRICS, someFigures())
    const said = execFileSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
      stdio: 'pipe',
    })
    assert.equal(said, '')
  },
)
