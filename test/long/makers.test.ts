import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAKERS } from '../../src/long/makers.ts'
import { OPERATIONS } from '../../src/routes.ts'

test('The thread of long answers makes the tables that operations offer, and what they do not answer themselves.', () => {
  const made = OPERATIONS.map(({ name }) => [
    name,
    'table' in (MAKERS[name] ?? {}),
    'json' in (MAKERS[name] ?? {}),
  ])
  assert.deepEqual(
    made,
    OPERATIONS.map(({ name, tables, answer }) => [name, tables !== undefined, answer === undefined]),
  )
  const names = new Set(OPERATIONS.map(({ name }) => name))
  assert.deepEqual(
    Object.keys(MAKERS).filter((name) => !names.has(name)),
    [],
  )
})
