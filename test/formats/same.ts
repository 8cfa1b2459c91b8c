/** Whether an answer in each format says what the JSON answer to the same request says, value by value. */
import assert from 'node:assert/strict'
import type { DuckRow } from '../builder/bulk/duck.ts'
import type { Json, JsonObject } from '../oracle/oracle.ts'
import { fieldOf, flat, parseCsv } from './parse.ts'

/** What a JSON answer is as a table. */
export interface Rows {
  items: JsonObject[]
  /** Columns that CSV has beside those of each item. */
  beside: JsonObject[]
  /** Where each item lies; null where the operation has no features. */
  places: ([number, number] | null)[] | null
}

const LISTS = ['buckets', 'rows', 'readings', 'buoys', 'satellite_passes', 'satellites', 'countries']

/**
 * The rows of the body of a success; null where the operation has no table. `idOf`: of the buoy that is asked
 * for
 */
export function rowsOf(operation: string, body: JsonObject, idOf: () => number): Rows | null {
  const data = body.data as JsonObject
  const buoy = data.buoy as JsonObject | undefined
  const ofBuoy = ({ lat, lng, name }: JsonObject, id: Json): JsonObject => ({
    'buoy.lat': lat,
    'buoy.lng': lng,
    buoy_id: id,
    buoy_name: name,
  })
  if (operation === 'nearest' && buoy !== undefined) return listed([buoy])
  if (operation === 'chart' || operation === 'forecast') {
    const times = data.time as Json[]
    // What `include` adds, too.
    const names = Object.keys(data).filter((name) => {
      const values = data[name]
      return Array.isArray(values) && values.length === times.length && name !== 'tides'
    })
    const items = times.map((_, i) =>
      Object.fromEntries(names.map((name) => [name, (data[name] as Json[])[i]])),
    )
    return { items, beside: buoy === undefined ? [] : items.map(() => ofBuoy(buoy, buoy.id)), places: null }
  }
  if (operation === 'series') {
    const years = data.years as { year: number; complete: boolean; points: JsonObject[] }[]
    const items = years.flatMap(({ year, complete, points }) =>
      points.map((point): JsonObject => ({ year, complete, ...point })),
    )
    return { items, beside: items.map(() => ofBuoy(buoy!, buoy!.id)), places: null }
  }
  const key = LISTS.find((name) => name in data)
  if (key === undefined) return null
  const items = data[key] as JsonObject[]
  if (key === 'readings' || key === 'rows' || key === 'buckets') {
    const id = buoy === undefined ? 0 : idOf()
    const known = (data.buoys ?? []) as JsonObject[]
    const buoys = items.map((item) => buoy ?? known.find((one) => one.id === item.buoy_id)!)
    return {
      items,
      beside: buoys.map((one) => ofBuoy(one, one.id ?? id)),
      places: buoys.map(({ lng, lat }) => [lng as number, lat as number]),
    }
  }
  return key === 'buoys' ? listed(items) : { items, beside: [], places: null }
}

function listed(items: JsonObject[]): Rows {
  return { items, beside: [], places: items.map(({ lng, lat }) => [lng as number, lat as number]) }
}

/** The members of an item as columns. A mark that JSON has only where it is set is false elsewhere. */
function columnsOf(item: JsonObject): Map<string, Json> {
  const members = [...flat(item)]
  const label = members.findIndex(([name]) => name === 'label')
  // A bucket of a zone's clock; points of a series have labels without a time.
  if (label !== -1 && 'time' in item && !('partial' in item)) members.splice(label + 1, 0, ['partial', false])
  return new Map(members)
}

/** @throws AssertionError at the first difference */
export function assertSameCsv(text: string, { items, beside }: Rows, what: string): void {
  const [names, ...lines] = parseCsv(text)
  assert.equal(new Set(names).size, names.length, `a column twice: ${what}`)
  assert.equal(lines.length, items.length, `rows: ${what}`)
  items.forEach((item, i) => {
    const members = columnsOf(item)
    for (const name of members.keys()) {
      // Of what is null as a whole, CSV has the members.
      const isKnown = names.includes(name) || names.some((column) => column.startsWith(`${name}.`))
      assert.ok(isKnown, `no column ${name}: ${what}`)
    }
    const own = beside[i] ?? {}
    const wanted = names.map((name) => fieldOf(name in own ? own[name] : members.get(name)))
    assert.deepEqual(lines[i], wanted, `row ${i}: ${what}`)
  })
}

export function assertSameNdjson(text: string, { items }: Rows, what: string): void {
  const lines = text.split('\n')
  assert.equal(lines.pop(), '', `the last line has no end: ${what}`)
  assert.equal(lines.length, items.length, `lines: ${what}`)
  // As text: members stand in the same order, and numbers are written in the same way.
  items.forEach((item, i) => assert.equal(lines[i], JSON.stringify(item), `line ${i}: ${what}`))
}

interface Collection {
  type: string
  features: {
    type: string
    id?: number
    geometry: { type: string; coordinates: Json }
    properties: { [name: string]: Json }
  }[]
}

export function assertSameGeojson(text: string, { items, places }: Rows, what: string): void {
  const { type, features } = JSON.parse(text) as Collection
  assert.equal(type, 'FeatureCollection', what)
  assert.equal(features.length, items.length, what)
  items.forEach((item, i) => {
    const feature = features[i]
    assert.equal(feature.type, 'Feature', what)
    assertScalars(feature.properties, item, `feature ${i}: ${what}`)
    if ('id' in item) assert.equal(feature.id, item.id, what)
    const place = places?.[i] ?? null
    if (place !== null) assert.deepEqual(feature.geometry, { type: 'Point', coordinates: place }, what)
  })
}

/** `properties` are the members of an item, nested ones under a name with a dot. */
function assertScalars(properties: { [name: string]: Json }, item: JsonObject, what: string): void {
  const members = flat(item)
  const names = Object.keys(properties)
  for (const value of Object.values(properties)) assert.ok(Object(value) !== value, `not a scalar: ${what}`)
  for (const name of names) assert.equal(properties[name], members.get(name) ?? null, `${name}: ${what}`)
  // What is null as a whole is null in each of its members.
  const wholes = [...members.keys()].filter((name) => !names.includes(name))
  for (const name of wholes) {
    assert.equal(members.get(name), null, `no property ${name}: ${what}`)
    assert.ok(
      names.some((each) => each.startsWith(`${name}.`)),
      `no property ${name}: ${what}`,
    )
  }
}

/** The list of a JSON answer by columns. */
export function assertSameColumns(text: string, { items }: Rows, what: string): void {
  const { data } = JSON.parse(text) as { data: { [key: string]: Json } }
  const key = [...LISTS, 'buoy'].find((name) => name in data)!
  const columns = data[key] as { [name: string]: Json[] }
  const flatItems = items.map((item) => columnsOf(item))
  for (const name of new Set(flatItems.flatMap((members) => [...members.keys()]))) {
    if (!(name in columns)) {
      assert.ok(
        Object.keys(columns).some((column) => column.startsWith(`${name}.`)),
        `no column ${name}: ${what}`,
      )
      continue
    }
    const wanted = flatItems.map((members) => members.get(name) ?? null)
    assert.deepEqual(columns[name], wanted, `${name}: ${what}`)
  }
}

const PARQUET_TYPES: { [type: string]: readonly string[] } = {
  BIGINT: ['id'],
  'TIMESTAMP WITH TIME ZONE': ['time'],
  INTEGER: ['energy_per_wave', 'buoy_id', 'sample_count'],
  VARCHAR: ['uuid', 'direction_compass', 'unit', 'buoy_name', 'label'],
  BOOLEAN: ['partial'],
}

/** As DuckDB shows a value of this type in JSON. */
function inDuck(value: Json | undefined, type: string): string | number | boolean | null {
  if (value === null || value === undefined) return null
  switch (type) {
    case 'BIGINT':
      return JSON.stringify(value)
    case 'TIMESTAMP WITH TIME ZONE':
      // An instant, whatever offset texts have.
      return `${new Date(value as string).toISOString().slice(0, 19).replace('T', ' ')}+00`
    default:
      return value as string | number
  }
}

/** `description` and `found` are what DuckDB says of a file of readings, and its rows. */
export function assertSameParquet(
  description: readonly DuckRow[],
  found: readonly DuckRow[],
  { items, beside }: Rows,
  what: string,
): void {
  const columns = description.map((row) => [row['column_name'] as string, row['column_type'] as string])
  for (const [name, type] of columns) {
    // So 4.37 is 4.37.
    const wanted = Object.keys(PARQUET_TYPES).find((known) => PARQUET_TYPES[known].includes(name)) ?? 'DOUBLE'
    assert.equal(type, wanted, `${name}: ${what}`)
  }
  assert.equal(found.length, items.length, `rows: ${what}`)
  items.forEach((item, i) => {
    const own = beside[i]
    const members = new Map([
      ...[...columnsOf(item)].filter(([name]) => !(name in own)),
      ...Object.entries(own),
    ])
    assert.deepEqual(
      [...members.keys()],
      columns.map(([name]) => name),
      `columns: ${what}`,
    )
    const wanted = columns.map(([name, type]) => [name, inDuck(members.get(name), type)])
    assert.deepEqual(found[i], Object.fromEntries(wanted), `row ${i}: ${what}`)
  })
}
