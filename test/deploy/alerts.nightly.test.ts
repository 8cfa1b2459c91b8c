/** Alerts and dashboard name metrics that exist; each alert has a runbook, and fires in its fault alone. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { METRICS } from '../../src/server/metrics-table.ts'
import { ROOT } from '../docs/markdown.ts'
import { temporaryFolder } from '../live.ts'
import { missingTool } from '../programs.ts'
import { FAULTS, HEALTHY, MINUTES, SLOW_ALERTS, SLOW_MINUTES, type SeriesTable } from './alerts.ts'

const at = (path: string): string => join(ROOT, path)
const DASHBOARD = readFileSync(at('deploy/grafana-dashboard.json'), 'utf8')
const RULES_FILE = at('deploy/prometheus-rules.yml')
const RULES = readFileSync(RULES_FILE, 'utf8')
const OPERATIONS = readFileSync(at('docs/operations.md'), 'utf8')
const ALERTS = [...RULES.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name)

const skip = missingTool('promtool', 'prometheus')

/** The metrics that a text of expressions names. */
function metricsIn(text: string): Set<string> {
  const names = [...text.matchAll(/\b(?:groundswell|http_server|process)_[a-z0-9_]+\b/g)].map(
    ([name]) => name,
  )
  return new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, '')))
}

test('Alerts and dashboard name metrics of the table alone.', () => {
  const known = new Set(METRICS.map(({ name }) => name))
  const expressions = [...RULES.matchAll(/expr: (.*(?:\n {10}.*)*)/g)].map(([, text]) => text)
  assert.equal(expressions.length, ALERTS.length)
  const named = metricsIn([...expressions, ...Object.keys(HEALTHY)].join('\n'))
  assert.ok(named.size > 25)
  for (const name of [...named, ...metricsIn(DASHBOARD)]) assert.ok(known.has(name), name)
})

test('Every alert has its paragraph in the runbook, which its annotation leads to, and the runbook no other.', () => {
  const paragraphs = [...OPERATIONS.matchAll(/^### (Groundswell\w+)\n\n([^#]+)/gm)]
  assert.deepEqual(
    paragraphs.map(([, name]) => name),
    ALERTS,
  )
  for (const [, name, text] of paragraphs) {
    assert.ok(text.length > 100, `${name} says what it means and what to do`)
    assert.ok(RULES.includes(`runbook: docs/operations.md#${name.toLowerCase()}\n`), name)
  }
})

/** A test for promtool: with these series exactly these alerts fire in the end. */
function scenario(name: string, series: SeriesTable, firing: readonly string[], minutes = 1): object {
  return {
    name,
    interval: `${minutes}m`,
    input_series: Object.entries(series).map(([of, values]) => ({ series: of, values })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${MINUTES * minutes}m`,
        exp_samples: firing.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  }
}

test('Each alert fires in its simulated fault alone, and none while all is well.', { skip }, (t) => {
  assert.deepEqual(Object.keys(FAULTS), ALERTS)
  execFileSync('promtool', ['check', 'rules', '--lint-fatal', RULES_FILE], { stdio: 'pipe' })
  const faults = (isSlow: boolean, minutes: number): object[] =>
    Object.entries(FAULTS)
      .filter(([alert]) => SLOW_ALERTS.includes(alert) === isSlow)
      .map(([alert, fault]) => scenario(alert, { ...HEALTHY, ...fault }, [alert], minutes))
  const own = { 'groundswell_ready{job="groundswell", instance="a:8081"}': `1x${MINUTES}` }
  runRules(t, '1m', [
    scenario('all is well', HEALTHY, []),
    // What is missing is no fault: a server without a schedule or an access log has fewer series.
    scenario('only its own figures', own, []),
    ...faults(false, 1),
  ])
  const slow = [scenario('all is well', HEALTHY, [], SLOW_MINUTES), ...faults(true, SLOW_MINUTES)]
  runRules(t, `${SLOW_MINUTES}m`, slow)
})

/** @throws AssertionError with what promtool says */
function runRules(t: TestContext, interval: string, tests: object[]): void {
  // JSON is YAML.
  const file = join(temporaryFolder(t), 'alerts.json')
  writeFileSync(file, JSON.stringify({ rule_files: [RULES_FILE], evaluation_interval: interval, tests }))
  try {
    execFileSync('promtool', ['test', 'rules', file], { stdio: 'pipe', encoding: 'utf8' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    assert.fail(`${stdout}\n${stderr}`)
  }
}
