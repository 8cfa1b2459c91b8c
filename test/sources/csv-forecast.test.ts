/** The tables of the csv source that feed the combined conditions: forecasts and spots. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { openCsv } from '../../src/sources/csv/csv.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { folderOf, record } from './recorder.ts'

const BASE = {
  'sources.csv': 'name,network\nNorthwatch,national\n',
  'buoys.csv': 'source,identifier,name,lat,lng\nNorthwatch,A1,First,1,2\n',
}
const RUN = Date.UTC(2026, 2, 27) / 1000
const HEADER =
  'lat,lng,run,time,wave_height,wave_period,wave_direction,swell_height,swell_period,swell_direction,wind_speed,wind_direction'

test('Forecast lines of a point are gathered over all files, in order of time, the later line counting.', async (t) => {
  const folder = await folderOf(t, {
    ...BASE,
    'forecast/a.csv': [
      HEADER,
      '43.5,-2,2026-03-27T00:00:00Z,2026-03-27T02:00:00Z,1.234,8.5,360,1.1,10.25,359.99,36.04,0',
      `43.5,-2,${RUN},${RUN + 3600},1.5,,,,,,,`,
      '-10,180,2026-03-27T02:00+02:00,2026-03-27T01:00:00Z,0,0,0,0,0,0,0,0',
      '',
    ].join('\n'),
    'forecast/b.csv.gz': gzipSync(`time,wave_height,run,lng,lat\n${RUN + 3600},1.75,${RUN},-2,43.5\n`),
    'forecast/readme.txt': 'not a table',
  })
  const { forecasts, bad, skipped, doubts, understood } = await record(openCsv, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual([...skipped], [])
  assert.ok(doubts.includes('files or folders are not read × 1: forecast/readme.txt'))
  assert.deepEqual([understood.get('a.csv'), understood.get('b.csv.gz')], [3, 1])
  assert.deepEqual(forecasts, [
    {
      lat: 43.5,
      lng: -2,
      runAt: RUN,
      times: [RUN + 3600, RUN + 7200],
      values: {
        waveHeight: [1.75, 1.234],
        wavePeriod: [null, 8.5],
        waveDirection: [null, 0],
        swellHeight: [null, 1.1],
        swellPeriod: [null, 10.25],
        swellDirection: [null, 359.99],
        windSpeed: [null, 36.04],
        windDirection: [null, 0],
      },
    },
    {
      lat: -10,
      lng: 180,
      runAt: RUN,
      times: [RUN + 3600],
      values: {
        waveHeight: [0],
        wavePeriod: [0],
        waveDirection: [0],
        swellHeight: [0],
        swellPeriod: [0],
        swellDirection: [0],
        windSpeed: [0],
        windDirection: [0],
      },
    },
  ])
})

test('Only the newest run of a point is kept, whichever comes first.', async (t) => {
  const line = fc.record({
    lat: fc.constantFrom('10', '10.00001', '20'),
    run: fc.integer({ min: RUN + 1, max: RUN + 3 }),
    time: fc.integer({ min: RUN + 10, max: RUN + 14 }),
    height: fc.integer({ min: 0, max: 9 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      const text = lines.map(({ lat, run, time, height }) => `${lat},0,${run},${time},${height}\n`).join('')
      const folder = await folderOf(t, {
        ...BASE,
        'forecast/a.csv': `lat,lng,run,time,wave_height\n${text}`,
      })
      const { forecasts, skipped } = await record(openCsv, folder)
      let kept = 0
      for (const at of [10, 20]) {
        const here = lines.filter(({ lat }) => Math.round(Number(lat)) === at)
        const found = forecasts.find(({ lat }) => Math.round(lat) === at)
        if (here.length === 0) {
          assert.equal(found, undefined)
          continue
        }
        const newest = Math.max(...here.map(({ run }) => run))
        const heights = new Map<number, number>()
        for (const { run, time, height } of here) if (run === newest) heights.set(time, height)
        const times = [...heights.keys()].sort((a, b) => a - b)
        assert.equal(found?.runAt, newest)
        assert.deepEqual(found?.times, times)
        assert.deepEqual(
          found?.values.waveHeight,
          times.map((time) => heights.get(time)),
        )
        kept++
      }
      assert.equal(forecasts.length, kept)
      const older = skipped.get('an older run of the same forecast point') ?? 0
      assert.ok(older <= lines.length - kept)
    }),
    { numRuns: 60 },
  )
})

test('Faulty forecast lines are reported with file and line and left out.', async (t) => {
  const good = `1,2,${RUN},${RUN},1`
  const folder = await folderOf(t, {
    ...BASE,
    'forecast/header.csv': 'lat,lng,time\n',
    'forecast/lines.csv': [
      'lat,lng,run,time,wave_height',
      good,
      `91,2,${RUN},${RUN},1`,
      `1,181,${RUN},${RUN},1`,
      `1,2,yesterday,${RUN},1`,
      `1,2,${RUN},2026-03-27,1`,
      `1,2,${RUN},${RUN},high`,
      `1,2,${RUN},${RUN},1.2345`,
      `1,2,${RUN}`,
      `1,2,${RUN},${RUN + 1},25.1`,
      '',
    ].join('\n'),
  })
  const { forecasts, bad, skipped } = await record(openCsv, folder)
  const position = 'lat and lng are not numbers from -90 to 90 and -180 to 180'
  const time = 'run or time is neither ISO 8601 with Z or an offset nor whole epoch seconds of 9 or 10 digits'
  assert.deepEqual(bad, [
    'header.csv:1 the header lacks the column run',
    `lines.csv:3 ${position}`,
    `lines.csv:4 ${position}`,
    `lines.csv:5 ${time}`,
    `lines.csv:6 ${time}`,
    'lines.csv:7 wave_height is not a decimal number',
    'lines.csv:9 wrong number of fields',
  ])
  assert.deepEqual([...skipped], [['wave_height outside 0 to 25 m', 1]])
  assert.deepEqual(forecasts.length, 1)
  assert.deepEqual(forecasts[0].times, [RUN, RUN + 1])
  assert.deepEqual(forecasts[0].values.waveHeight, [1.235, null])
})

test('Spots are read with their own ids, faulty ones reported.', async (t) => {
  const folder = await folderOf(t, {
    ...BASE,
    'spots.csv': [
      'name,id,lng,lat',
      '"Lafitenia, le  reef",7,-1.61,43.42',
      'Last,4294967295,180,-90',
      'Again,7,0,0',
      'None,0,0,0',
      'Large,4294967296,0,0',
      'Word,x,0,0',
      ' ,8,0,0',
      'North,9,0,91',
      'East,10,-181,0',
      '',
    ].join('\n'),
  })
  const { spots, bad } = await record(openCsv, folder)
  assert.deepEqual(spots, [
    { id: 7, name: 'Lafitenia, le reef', lat: 43.42, lng: -1.61 },
    { id: 4_294_967_295, name: 'Last', lat: -90, lng: 180 },
  ])
  assert.deepEqual(bad, [
    'spots.csv:4 a spot with this id is listed above',
    'spots.csv:5 id is not a whole number from 1 to 4294967295',
    'spots.csv:6 id is not a whole number from 1 to 4294967295',
    'spots.csv:7 id is not a whole number from 1 to 4294967295',
    'spots.csv:8 name is empty',
    'spots.csv:9 lat is not a number from -90 to 90',
    'spots.csv:10 lng is not a number from -180 to 180',
  ])
  const lacking = await folderOf(t, { ...BASE, 'spots.csv': 'id,name\n1,One\n' })
  await assert.rejects(record(openCsv, lacking), BuildError)
})
