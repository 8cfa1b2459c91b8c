/** Lines for the operator: levels, formats, and that nothing in a message makes a line of its own. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'node:test'
import { AccessLog, type AccessEntry, type AccessLogged } from '../../src/http/access-log.ts'
import { LEVELS, Log, type Format, type Level, type LogLine } from '../../src/system/log.ts'

const NOW = 1_774_602_000

function logged(format: Format, level: Level, events: readonly Parameters<LogLine>[]): string {
  let text = ''
  const log = new Log({ format, level, write: (more) => (text += more), clock: () => NOW })
  for (const event of events) log.line(...event)
  return text
}

const message = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom(
    'a\nb',
    'a\r\n{"level":"info"}',
    '\u2028',
    '"}\n{"time":"x"}',
    '\x1b[2J\x07',
    '\u202Eevil',
    'warning: x\ny',
  ),
)

test('Whatever a message holds, an event is one line: one object of JSON, or a text without what steers a terminal.', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(message, fc.constantFrom(...LEVELS)), { maxLength: 8 }), (messages) => {
      const json = logged('json', 'debug', messages)
      assert.equal(json.split('\n').length - 1, messages.length)
      for (const line of json.split('\n').slice(0, -1)) {
        const event = JSON.parse(line) as { [name: string]: unknown }
        assert.deepEqual(Object.keys(event), ['time', 'level', 'message'])
        assert.ok((LEVELS as readonly unknown[]).includes(event['level']))
        assert.equal(event['time'], '2026-03-27T09:00:00.000Z')
      }
      const text = logged('text', 'debug', messages)
      assert.equal(text.split('\n').length - 1, messages.length)
      assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u)
    }),
  )
})

test('A level shows its own lines and the more serious ones; text begins with a word for the level.', () => {
  const events: Parameters<LogLine>[] = [
    ['fault in worker 1: Error', 'error', ''],
    ['the engine ended', 'error'],
    ['no explorer', 'warning'],
    ['serving snapshot a'],
    ['worker 0 is ready', 'debug'],
  ]
  const lines = [
    'fault in worker 1: Error',
    'fault: the engine ended',
    'warning: no explorer',
    'serving snapshot a',
    'debug: worker 0 is ready',
  ]
  LEVELS.forEach((level, i) => {
    const textLines = logged('text', level, events).split('\n')
    assert.deepEqual(textLines, [...lines.slice(0, i + 2), ''])
    const json = logged('json', level, events).split('\n').slice(0, -1)
    assert.deepEqual(
      json.map((line) => Object.values(JSON.parse(line) as object).slice(1)),
      events.slice(0, i + 2).map(([message, own = 'info']) => [own, message]),
    )
  })
})

const ENTRY: AccessEntry = {
  method: 'GET',
  operation: 'getBuoy',
  route: '/v2/buoys/{buoy_id}',
  status: 200,
  bytes: 546,
  durationMs: 0.0213,
  keyId: 'k_0123456789',
  requestId: '',
}

function accessLog(logged: AccessLogged, format: Format = 'json') {
  const handed: Uint8Array[] = []
  let dropped = 0
  const log = new AccessLog({
    logged,
    format,
    worker: 1,
    clock: () => NOW,
    hand: (lines) => handed.push(lines),
    onDropped: (lines) => (dropped += lines),
  })
  return { log, handed, dropped: () => dropped }
}

test('A line of text says what was asked, how it went, and whose key it was.', () => {
  const text = accessLog('all', 'text')
  text.log.add(ENTRY)
  text.log.close()
  assert.equal(
    Buffer.concat(text.handed).toString(),
    'request time=2026-03-27T09:00:00.000Z worker=1 http_request_method=GET http_route=/v2/buoys/{buoy_id} operation=getBuoy http_response_status_code=200 body_bytes=546 duration_ms=0.021 key=k_0123456789\n',
  )
})

test('Errors and slow requests are shown, or all.', (t) => {
  const { log } = accessLog('errors')
  const { log: ofAll } = accessLog('all')
  t.after(() => (log.close(), ofAll.close()))
  assert.ok(log.wants(404, 0) && log.wants(503, 0) && log.wants(200, 100))
  assert.ok(!log.wants(200, 99) && !log.wants(304, 1))
  assert.ok(ofAll.wants(200, 0))
})

test('Where nobody takes the lines, no more than half a megabyte waits; the rest is counted as dropped.', (t) => {
  const { log, handed, dropped } = accessLog('all')
  t.after(() => log.close())
  const count = 20_000
  for (let i = 0; i < count; i++) log.add(ENTRY)
  log.flush()
  const lines = (): number => Buffer.concat(handed).toString().split('\n').length - 1
  assert.equal(lines() + dropped(), count)
  assert.ok(Buffer.concat(handed).length < 600 * 1024)
  // What was taken makes room again.
  const before = lines()
  for (const each of handed) log.written(each.length)
  for (let i = 0; i < 100; i++) log.add(ENTRY)
  log.flush()
  assert.equal(lines(), before + 100)
})
