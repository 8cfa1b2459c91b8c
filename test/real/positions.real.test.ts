/** Positions of real stations against the mask of land. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { askPositions } from '../../src/builder/position-check.ts'
import { isInland } from '../../src/sea/inland.ts'
import { DATA } from './read-files.ts'

interface Station {
  source: string
  identifier: string
  lat: number
  lng: number
}

function stationsOf(): Station[][] {
  const active = readFileSync(join(DATA, 'ndbc', 'activestations_20250613.xml'), 'utf8')
  const ndbc = [
    ...active.matchAll(/<station id="([^"]+)" lat="([^"]+)" lon="([^"]+)"[^>]* type="buoy"/g),
  ].map(([, identifier, lat, lng]) => ({ source: 'NDBC', identifier, lat: Number(lat), lng: Number(lng) }))
  const list = readFileSync(join(DATA, 'candhis', 'candhis_stations_egauvrit.csv'), 'utf8')
  const candhis = list
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [identifier, , lat, lng] = line.split(',')
      return { source: 'Candhis', identifier, lat: Number(lat), lng: Number(lng) }
    })
  return [ndbc, candhis]
}

const TURNS = [
  ['the other sign of its longitude', ({ lng, ...more }: Station) => ({ ...more, lng: -lng })],
  ['latitude and longitude exchanged', ({ lat, lng, ...more }: Station) => ({ ...more, lat: lng, lng: lat })],
] as const

test('No wave buoy of NDBC and Candhis is on land, and turned ones are found with their turn, all or one alone.', () => {
  const networks = stationsOf()
  assert.deepEqual(
    networks.map(({ length }) => length),
    [381, 29],
  )
  let [right, asked] = [0, 0]
  for (const buoys of networks) {
    assert.deepEqual([...askPositions(buoys)], [])
    for (const [words, turn] of TURNS) {
      const turned = buoys.map(turn)
      const onGlobe = turned.filter(({ lat }) => Math.abs(lat) <= 90)
      const inland = onGlobe.filter(({ lat, lng }) => isInland(lat, lng))
      const said = [...askPositions(onGlobe)].map(({ examples }) => examples![0])
      assert.equal(said.length, inland.length)
      right += said.filter((text) => text.includes(words)).length
      asked += 2 * inland.length
      for (const [i, one] of turned.entries()) {
        if (!inland.includes(one)) continue
        const [alone] = askPositions(buoys.with(i, one))
        if (alone.examples![0].includes(words)) right++
      }
    }
  }
  assert.ok(right >= 0.95 * asked, `${right} of ${asked}`)
})
