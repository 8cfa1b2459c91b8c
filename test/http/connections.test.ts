/** Limits of connections and streams that hold over all threads. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AddressCounters } from '../../src/access/address-counters.ts'
import { QUOTA_SLOTS } from '../../src/access/quota.ts'
import { Connections, countConnections, placeOf } from '../../src/http/connections.ts'
import { connectionsWithin, openFilesLimit } from '../../src/server/worker-settings.ts'
import { lineText, type LogLine } from '../../src/system/log.ts'

const LIMITS = { connections: 4, streams: 5, streamsOfOne: 3 }

describe('connections and streams that are counted', () => {
  it('are those of all threads, and a thread that starts anew has none', () => {
    const buffer = Connections.allocate(3)
    const threads = [0, 1, 2].map((thread) => new Connections(buffer, thread, LIMITS))
    assert.deepEqual(
      [0, 1, 2, 1, 0].map((thread) => threads[thread].opened()),
      [true, true, true, true, false],
    )
    assert.deepEqual(countConnections(buffer), { open: 4, refused: 1, streamsByThread: [0, 0, 0] })
    // A connection that carries a stream makes room for another one.
    assert.equal(threads[1].streamBegins(9), null)
    assert.equal(threads[0].opened(), true)
    assert.deepEqual(countConnections(buffer), { open: 4, refused: 1, streamsByThread: [0, 1, 0] })
    const anew = new Connections(buffer, 1, LIMITS)
    assert.deepEqual([anew.open, anew.opened()], [3, true])
    assert.deepEqual(countConnections(buffer), { open: 4, refused: 1, streamsByThread: [0, 0, 0] })
    threads[0].left()
    assert.equal(anew.open, 3)
  })

  it('are limited for each holder and in all', () => {
    const buffer = Connections.allocate(2)
    const [a, b] = [0, 1].map((thread) => new Connections(buffer, thread, LIMITS))
    const begun = [a, b, a, b].map((thread) => thread.streamBegins(7))
    assert.deepEqual(begun, [null, null, null, 'of one holder'])
    assert.deepEqual(
      [b, b, a].map((thread) => thread.streamBegins(8)),
      [null, null, 'in all'],
    )
    a.streamEnds(7)
    assert.equal(a.streamBegins(8), null)
    a.streamEnds(8)
    assert.equal(b.streamBegins(7), null)
  })

  it('have places of their own without a key, which nobody can foretell, and of IPv6 the first half counts', () => {
    const places = (): ((address: string) => number) => {
      const counters = new AddressCounters(AddressCounters.allocate())
      return (address) => placeOf(-1, counters.hashOf(address))
    }
    const [one, other] = [places(), places()]
    const place = one('2001:db8::1')
    assert.ok(place >= QUOTA_SLOTS)
    assert.equal(one('2001:db8::2'), place)
    assert.equal(one('::ffff:192.0.2.1'), one('192.0.2.1'))
    // Of 64 addresses, next to none has the same place in two processes.
    const addresses = Array.from({ length: 64 }, (_, i) => `192.0.2.${i}`)
    assert.ok(new Set(addresses.map(one)).size > 60)
    assert.ok(addresses.filter((address) => one(address) === other(address)).length < 4)
  })
})

describe('connections and open files', () => {
  it('leave room for each other, and the operator is told', () => {
    const lines: string[] = []
    const log: LogLine = (...event) => lines.push(lineText(...event))
    const wanted = { connections: 10_000, listeners: 10_000 }
    const all = { maxConnections: 10_000, maxListeners: 10_000 }
    assert.deepEqual(connectionsWithin(wanted, 2, 40_000, log), all)
    assert.deepEqual(connectionsWithin(wanted, 2, null, log), all)
    assert.deepEqual(lines, [])
    const fewer = connectionsWithin({ connections: 10_000, listeners: 5000 }, 2, 1_024, log)
    assert.deepEqual(fewer, { maxConnections: 576, maxListeners: 288 })
    assert.equal(lines.length, 1)
    assert.match(
      lines[0],
      /--max-connections 10000 is taken as \d+ and --max-listeners 5000 as \d+: .* 1024 files/,
    )
    assert.deepEqual(connectionsWithin(wanted, 2, 10, log), { maxConnections: 1, maxListeners: 1 })
  })

  it('are limited where the system says so', { skip: process.platform !== 'linux' }, () => {
    assert.ok(openFilesLimit()! > 0)
  })
})
