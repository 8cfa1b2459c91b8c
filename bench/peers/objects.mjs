/**
 * The peer that one would write first: Fastify, everything in memory as objects ready for `JSON.stringify`,
 * plain loops and bisection. Arguments: buoys file, readings file, the data's time, the key.
 */
import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import Fastify from 'fastify'
import {
  buoyShapes,
  byCodeUnits,
  fold,
  isActive,
  isoTime,
  kilometres,
  notFound,
  pageOf,
  readingOf,
  searchRank,
  success,
} from './shapes.mjs'

const [buoysFile, readingsFile, asOfText, key] = process.argv.slice(2)
const asOf = Number(asOfText)

/** By buoy id: readings and their times, ascending. */
const readings = new Map()
for await (const line of createInterface({ input: createReadStream(readingsFile) })) {
  const fields = line.split(',')
  const id = Number(fields[0])
  let own = readings.get(id)
  if (own === undefined) readings.set(id, (own = { times: [], items: [] }))
  const row = fields.slice(1).map((text) => (text === '' ? null : Number(text)))
  own.times.push(row[0])
  own.items.push(readingOf(id, row))
}
const NONE = { times: [], items: [] }
const buoys = readFileSync(buoysFile, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const buoy = JSON.parse(line)
    const own = readings.get(buoy.id) ?? NONE
    return {
      ...buoyShapes(buoy, own.items.at(-1) ?? null, own.items.length),
      ...own,
      active: isActive(own.times.at(-1) ?? null, asOf),
      foldedName: fold(buoy.name),
      foldedIdentifier: fold(buoy.identifier),
    }
  })
const byId = new Map(buoys.map((buoy) => [buoy.id, buoy]))
const active = buoys.filter((buoy) => buoy.active)
const activePhysical = active.filter((buoy) => !buoy.virtual)

/** The first place of a time not before `time`. */
function placeOf(times, time) {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle] < time) low = middle + 1
    else high = middle
  }
  return low
}

const ranked = (list, lat, lng, radius) =>
  list
    .map((buoy) => ({ buoy, km: kilometres(lat, lng, buoy.lat, buoy.lng) }))
    .filter(({ km }) => km <= radius)
    .sort((a, b) => a.km - b.km || a.buoy.id - b.buoy.id)

const app = Fastify()
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${key}`)
    return reply.code(401).send({ error: 'unauthorized' })
})
app.get('/v2/buoys', ({ query }) => {
  const found =
    query.country === undefined ? active : active.filter(({ country }) => country === query.country)
  const { from, perPage, meta } = pageOf(query, query.country === undefined ? 50 : 500, 500)
  return success(
    { buoys: found.slice(from, from + perPage).map(({ listItem }) => listItem), count: found.length },
    meta(found.length),
  )
})
app.get('/v2/buoys/last_readings', ({ query }) => {
  const ids = [
    ...new Set(
      query.ids
        .split(',')
        .slice(0, Number(query.limit ?? 3))
        .map(Number),
    ),
  ]
  return success({
    buoys: ids.flatMap((id) => byId.get(id)?.lastReadingsItem ?? []),
    missing_ids: ids.filter((id) => !byId.has(id)),
  })
})
app.get('/v2/buoys/search', ({ query }) => {
  const text = fold(query.query.trim())
  const found = buoys
    .map((buoy) => ({ buoy, rank: searchRank(buoy, text) }))
    .filter(({ rank }) => rank !== null)
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(b.buoy.active) - Number(a.buoy.active) ||
        byCodeUnits(a.buoy.foldedName, b.buoy.foldedName) ||
        a.buoy.id - b.buoy.id,
    )
    .slice(0, Number(query.limit ?? 10))
  return success({ buoys: found.map(({ buoy }) => buoy.searchItem), count: found.length })
})
app.get('/v2/buoys/nearest', ({ query }, reply) => {
  const limit = Number(query.limit ?? 1)
  const found = ranked(
    activePhysical,
    Number(query.lat),
    Number(query.lng),
    Number(query.max_distance ?? 150),
  )
    .slice(0, limit)
    .map(({ buoy, km }) => ({
      ...buoy.nearItem,
      distance_km: Math.round(km * 100) / 100,
      last_reading: buoy.last_reading,
    }))
  if (found.length === 0) return notFound(reply)
  return success(limit === 1 ? { buoy: found[0] } : { buoys: found, count: found.length })
})
app.get('/v2/buoys/:id', ({ params }, reply) => {
  const buoy = byId.get(Number(params.id))
  return buoy === undefined ? notFound(reply) : success({ buoy: buoy.detail })
})
app.get('/v2/buoys/:id/readings', ({ params, query }, reply) => {
  const buoy = byId.get(Number(params.id))
  if (buoy === undefined) return notFound(reply)
  const [start, end] = [Date.parse(query.start_date) / 1000, Date.parse(query.end_date) / 1000]
  const [first, last] = [placeOf(buoy.times, start), placeOf(buoy.times, end + 1)]
  const { from, perPage, meta } = pageOf(query, 20, 100)
  const newest = last - from
  return success(
    {
      buoy: buoy.summary,
      readings: newest <= first ? [] : buoy.items.slice(Math.max(first, newest - perPage), newest).reverse(),
      count: last - first,
    },
    { ...meta(last - first), date_range: { start: isoTime(start), end: isoTime(end) } },
  )
})
app.get('/v2/buoys/:id/readings/search', ({ params, query }, reply) => {
  const buoy = byId.get(Number(params.id))
  if (buoy === undefined) return notFound(reply)
  const target = Date.parse(`${query.date}T${query.time}:00Z`) / 1000
  const tolerance = Number(query.tolerance_hours ?? 3)
  const after = placeOf(buoy.times, target)
  const away = (place) => Math.abs((buoy.times[place] ?? Infinity) - target)
  const place = after > 0 && away(after - 1) <= away(after) ? after - 1 : after
  if (!(away(place) <= tolerance * 3600)) return notFound(reply)
  return success({
    closest_reading: { ...buoy.items[place], time_diff_minutes: Math.round(away(place) / 60) },
    search_parameters: {
      target_datetime: isoTime(target),
      tolerance_hours: tolerance,
      search_range: { start: isoTime(target - tolerance * 3600), end: isoTime(target + tolerance * 3600) },
    },
  })
})
app.get('/v2/buoys/:id/readings/:reading', ({ params }, reply) => {
  const buoy = byId.get(Number(params.id))
  if (buoy === undefined) return notFound(reply)
  const time = Number(params.reading) - buoy.id * 1e10
  const place = placeOf(buoy.times, time)
  if (buoy.times[place] !== time) return notFound(reply)
  return success({ reading: buoy.items[place], buoy: { id: buoy.id, name: buoy.name } })
})

await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
process.on('SIGTERM', () => process.exit(0))
