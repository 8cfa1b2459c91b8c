/** Files of every kind of source that are cut, swapped and filled with what does not belong there. */
import { test } from 'node:test'
import * as fc from 'fast-check'
import { openErddap } from '../../src/sources/tables/erddap.ts'
import { openJsonSource as openJson } from '../../src/sources/tables/json.ts'
import { openKind } from '../../src/sources/kinds.ts'
import { assertWithstands, damaged, mostly, type AnyContent } from './damage.ts'
import { SAMPLES } from './samples.ts'

for (const [kind, { options, sound, damaged: others }] of Object.entries(SAMPLES)) {
  // NetCDF takes long: each of its kinds has a test of its own.
  if (kind === 'cmems' || kind === 'altimetry') continue
  test(`Any damage to files of ${kind} leads to sound rows or a clear refusal`, async () => {
    const files = Object.entries({ ...sound, ...others }).map(([name, content]): [string, AnyContent] => {
      const bytes = Buffer.from(content)
      // Where all are damaged nothing would be read.
      return [name.replace('#', '10000'), fc.oneof(fc.constant(bytes), damaged(bytes))]
    })
    await assertWithstands((folder) => openKind(kind, folder, options), Object.fromEntries(files), {
      // A repeat of which nothing is left takes back what an earlier build said of its time.
      hasEmptyRows: kind === 'ndbc',
    })
  })
}

test('Rows of JSON with anything in any place lead to sound rows or a clear refusal', async () => {
  const good = {
    time: '2025-11-01T00:00:00Z',
    station: 'M4',
    lat: 55,
    lng: -9.9991,
    height: 4.336,
    direction: 256,
    knots: 19.923,
  }
  const at = (place: string, unit: string) => ({ at: place, unit })
  const values = {
    significantHeight: at('/height', 'm'),
    direction: at('/direction', 'degree'),
    windSpeed: at('/knots', 'knots'),
  }
  const place = { rows: '', station: '/station', lat: '/lat', lng: '/lng', time: at('/time', 'UTC') }
  const fields = Object.fromEntries(Object.entries(good).map(([name, value]) => [name, mostly(value)]))
  const document = fc.array(fc.record(fields, { requiredKeys: [] }), { maxLength: 8 }).chain(mostly)
  await assertWithstands(
    (folder) => openJson(folder, { source: 'S', network: 'national', tables: [{ ...place, values }] }),
    { 'a.json': document.map((value) => JSON.stringify(value)) },
  )
})

test('A table of ERDDAP with anything in any place leads to sound rows or a clear refusal', async () => {
  const names = ['station', 'time', 'latitude', 'longitude', 'hs', 'hs_qc_agg', 'tp', 'mwd', 'depth', 'sst']
  const units = [null, 'UTC', 'degrees_north', 'degrees_east', 'm', '1', 's', 'degree', 'm', 'K']
  const row = ['A', '2024-01-01T00:00:00Z', 50.1, -5.5, 1.5, 1, 9, 270, 0, 288.15]
  const list = (values: readonly unknown[]) => fc.tuple(...values.map(mostly))
  const table = fc.record({
    columnNames: mostly(names),
    columnUnits: list(units).chain(mostly),
    rows: fc.array(list(row), { maxLength: 8 }).chain(mostly),
  })
  const document = fc.record({ table: table.chain(mostly) })
  await assertWithstands(openErddap, { 'a.json': document.map((value) => JSON.stringify(value)) })
})
