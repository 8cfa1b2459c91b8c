/** The reader of answers that the benches count with, whatever the pieces in which bytes come. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AnswerReader, type RawReply } from '../../bench/http/raw.ts'

interface Sent {
  bytes: string
  isHead: boolean
  status: number
  body: string
}

const text = fc.string({ maxLength: 40 })
const status = fc.constantFrom(200, 400, 404, 503)

const sized = fc.record({ status, body: text }).map(({ status: code, body }): Sent => ({
  bytes: `HTTP/1.1 ${code} X\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-A: b\r\n\r\n${body}`,
  isHead: false,
  status: code,
  body,
}))
const chunked = fc
  .record({ status, pieces: fc.array(fc.string({ minLength: 1, maxLength: 30 }), { maxLength: 5 }) })
  .map(({ status: code, pieces }): Sent => {
    const chunks = pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`)
    return {
      bytes: `HTTP/1.1 ${code} X\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`,
      isHead: false,
      status: code,
      body: pieces.join(''),
    }
  })
const bodyless = fc.constantFrom<Sent>(
  { bytes: 'HTTP/1.1 304 X\r\nContent-Length: 7\r\n\r\n', isHead: false, status: 304, body: '' },
  { bytes: 'HTTP/1.1 204 X\r\n\r\n', isHead: false, status: 204, body: '' },
  { bytes: 'HTTP/1.1 200 X\r\nContent-Length: 7\r\n\r\n', isHead: true, status: 200, body: '' },
  {
    bytes: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 X\r\nContent-Length: 1\r\n\r\nx',
    isHead: false,
    status: 200,
    body: 'x',
  },
)

test('Answers are told apart however they are framed and cut.', () => {
  const answers = fc.array(fc.oneof(sized, chunked, bodyless), { maxLength: 8 })
  fc.assert(
    fc.property(answers, fc.array(fc.nat(2000), { maxLength: 30 }), (sent, cuts) => {
      const seen: RawReply[] = []
      const reader = new AnswerReader({ onAnswer: (reply) => seen.push(reply) })
      for (const { isHead } of sent) reader.asked(isHead)
      const bytes = Buffer.from(sent.map((one) => one.bytes).join(''))
      const places = [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((a, b) => a - b)
      let from = 0
      for (const place of places) {
        reader.push(bytes.subarray(from, place))
        from = place
      }
      assert.deepEqual(
        seen.map((reply) => ({ status: reply.status, body: reply.body.toString('utf8') })),
        sent.map(({ status: code, body }) => ({ status: code, body })),
      )
      assert.equal(reader.waiting, 0)
      assert.equal(reader.isWithin, false)
    }),
  )
})

test('An answer without a length ends with its connection, and noise is no answer.', () => {
  const seen: RawReply[] = []
  const reader = new AnswerReader({ onAnswer: (reply) => seen.push(reply) })
  reader.asked(false)
  reader.push(Buffer.from('HTTP/1.0 505 X\r\nConnection: close\r\n\r\nno '))
  reader.push(Buffer.from('more'))
  assert.equal(seen.length, 0)
  assert.equal(reader.isWithin, true)
  reader.end()
  assert.equal(seen[0].body.toString(), 'no more')
  assert.throws(() => reader.push(Buffer.from('220 smtp.example.org ESMTP\r\n\r\n')), /no status line/)
})

test('A client that only counts keeps no bodies.', () => {
  const seen: RawReply[] = []
  const reader = new AnswerReader({ onAnswer: (reply) => seen.push(reply), keepBodies: false })
  reader.asked(false)
  reader.push(Buffer.from('HTTP/1.1 200 X\r\nContent-Length: 4\r\n\r\nabcd'))
  assert.equal(seen[0].body.length, 0)
  assert.equal(reader.bodyBytes, 4)
})
