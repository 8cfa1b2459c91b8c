import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EncodingPreference, preferredEncoding, type Encoding } from '../../src/serving/encoding.ts'

const OURS: readonly Encoding[] = ['br', 'zstd', 'gzip']

test('The coding is the heaviest acceptable one, ours first among equals, and none where the header is absent or not understood.', () => {
  const cases: [header: string, coding: Encoding | null][] = [
    ['', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['deflate', null],
    ['identity', null],
    ['*', 'br'],
    ['*;q=0.5, gzip', 'gzip'],
    ['br;q=0, *', 'zstd'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0,gzip;q=0,zstd;q=0', null],
    ['*;q=0', null],
    ['identity;q=0.9, gzip;q=0.5', null],
    ['identity;q=0, gzip;q=0.001', 'gzip'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['gzip;q=1.000', 'gzip'],
    ['gzip ; q=0.3', 'gzip'],
    ['gzip;q=2', null],
    ['gzip;q=-1', null],
    ['gzip;q=', null],
    ['gzip;level=9', null],
    ['gzip\0', null],
    [`gzip${', deflate'.repeat(60)}`, null],
  ]
  for (const [header, coding] of cases) {
    assert.equal(preferredEncoding(header, OURS), coding, JSON.stringify(header))
  }
  assert.equal(preferredEncoding('br, zstd', ['gzip']), null)
})

test('A preference that is remembered is the one that parsing gives, however many are asked for.', () => {
  const preference = new EncodingPreference(OURS)
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 200; i++) {
      const header = `br;q=0.${i % 10}, gzip;q=0.5, zstd;q=0.${i}`
      assert.equal(preference.of(header), preferredEncoding(header, OURS), header)
    }
  }
  assert.equal(preference.of(''), null)
})
