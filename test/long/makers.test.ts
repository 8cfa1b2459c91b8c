import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAKERS } from '../../src/long/makers.ts'
import { OPERATIONS } from '../../src/routes.ts'

test('The thread of long answers makes the tables that operations offer, and what they may not answer themselves.', () => {
  for (const { name, tables, answer } of OPERATIONS) {
    const { table, json } = MAKERS[name] ?? {}
    assert.equal(table !== undefined, tables !== undefined, name)
    // The usual JSON of a list may be made from its table.
    if (answer === undefined) assert.ok(json !== undefined || tables?.isList === true, name)
    else if (name !== 'readingSeries') assert.equal(json, undefined, name)
  }
  const names = new Set(OPERATIONS.map(({ name }) => name))
  assert.deepEqual(
    Object.keys(MAKERS).filter((name) => !names.has(name)),
    [],
  )
})
