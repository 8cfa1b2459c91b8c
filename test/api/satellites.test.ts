/**
 * What a comparison of answers cannot say of satellites: the language of their texts, and bad lines of
 * passes.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCsv } from '../../src/sources/csv.ts'
import { smallSnapshot } from '../access/turned_clock.ts'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { temporaryFolder } from '../live.ts'
import { smallWorld, writeCsv } from '../oracle/world.ts'
import { record } from '../sources/recorder.ts'

test('The locale decides the language, then the header, then English.', async () => {
  const path = new AskedPath(await viewOf(await smallSnapshot()))
  const ask = (query: string, language: string, more = {}) =>
    path.get(`/v2/buoys/satellites${query}`, { ...KEYED, 'accept-language': language, ...more })
  const textsOf = (query: string, language = ''): string[] => {
    const { text } = ask(query, language)
    const { data } = JSON.parse(text) as { data: { satellites: { description: string }[] } }
    return data.satellites.map(({ description }) => description)
  }
  const [english, french] = [textsOf('?locale=en'), textsOf('?locale=fr')]
  for (const [i, text] of english.entries()) assert.ok(text.length > 60 && text !== french[i])
  assert.match(french[0], /é/)
  // Which language a header prefers, `preferences.test.ts` asks.
  for (const [query, header, wanted] of [
    ['', '', english],
    ['', 'de, fr;q=0.2, en;q=0.1', french],
    ['', 'fr;q=nonsense', english],
    ['?locale=en', 'fr', english],
    ['?locale=fr', 'en', french],
    ['?locale=', 'fr', french],
  ] as const) {
    // The second may come out of a cache, which must not mix languages.
    for (let i = 0; i < 2; i++) assert.deepEqual(textsOf(query, header), wanted, `${query} ${header}`)
  }
  const { etag } = ask('', 'fr').headers
  const known = { 'if-none-match': etag }
  assert.deepEqual(
    ['en', 'fr'].map((language) => ask('', language, known).status),
    [200, 304],
  )
})

test('Every bad line of the tables of passes is named.', async (t) => {
  const folder = temporaryFolder(t)
  writeCsv(smallWorld(), folder)
  const head = 'mission,cycle,number,started_at,ended_at,south,west,north,east'
  const times = '2026-03-27T08:00:00Z,2026-03-27T08:40:00Z'
  const good = 'swot,5,7,2026-03-27T08:00:00Z,2026-03-27T08:40:00+00:00,-10,170,10,-170'
  const bad = [
    [`apollo,5,8,${times},-10,0,10,1`, 'mission is not the slug'],
    [`swot,x,8,${times},-10,0,10,1`, 'cycle is not a whole number'],
    [`swot,100000,8,${times},-10,0,10,1`, 'cycle is not a whole number'],
    [`swot,5,0,${times},-10,0,10,1`, 'number is not a whole number'],
    ['swot,5,8,yesterday,2026-03-27T08:40:00Z,-10,0,10,1', 'started_at must be ISO 8601'],
    ['swot,5,8,2026-03-27T08:40:00Z,2026-03-27T08:00:00Z,-10,0,10,1', 'started_at and ended_at'],
    [`swot,5,8,${times},10,0,-10,1`, 'south and north'],
    [`swot,5,8,${times},-10,0,91,1`, 'north is not a number from -90 to 90'],
    [`swot,5,8,${times},-10,181,10,1`, 'west is not a number from -180 to 180'],
    [`swot,05,007,${times},-10,0,10,1`, 'is listed above'],
  ]
  const badObservations = [
    ['swot,5,8,NDBC,S0,2026-03-27T08:10:00Z', 'not in passes.csv'],
    ['swot,5,7,NDBC,S9,2026-03-27T08:10:00Z', 'not in buoys.csv'],
    ['swot,5,7,NDBC,S0,2026-03-27T07:59:59Z', 'time is not within the pass'],
    ['swot,5,7,NDBC,S0,soon', 'time must be ISO 8601'],
  ]
  const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), lines.join('\n'))
  write(
    'pass_observations.csv',
    'mission,cycle,number,source,identifier,time',
    'swot,5,7,NDBC,S0,2026-03-27T08:10:00Z',
    ...badObservations.map(([line]) => line),
  )
  write('passes.csv', head, good, ...bad.map(([line]) => line))
  const said = (await record(openCsv, folder)).bad
  for (const [file, faults] of [
    ['passes.csv', bad],
    ['pass_observations.csv', badObservations],
  ] as const) {
    for (const [i, [line, reason]] of faults.entries()) {
      const isNamed = said.some((text) => text.startsWith(`${file}:${i + 3} `) && text.includes(reason))
      assert.ok(isNamed, `${line}: ${said.join('\n')}`)
    }
  }
})
