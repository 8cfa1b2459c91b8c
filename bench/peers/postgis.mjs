/**
 * The peer that one would build next: Fastify over PostgreSQL with PostGIS, with the indexes that its queries
 * want and prepared statements. It starts the database in a folder of its own and ends it with itself, so
 * that both count as one server. Arguments: buoys file, readings file, the data's time, the key, the
 * database's folder and programs, its port and user.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Fastify from 'fastify'
import pg from 'pg'
import {
  buoyShapes,
  byCodeUnits,
  fold,
  isoTime,
  kilometres,
  notFound,
  pageOf,
  readingOf,
  searchRank,
  success,
} from './shapes.mjs'

const [buoysFile, readingsFile, asOfText, key, folder, programs, port, uid, gid] = process.argv.slice(2)
const asOf = Number(asOfText)
/** Nobody runs a database as root, and it refuses. */
const user = uid === '' ? {} : { uid: Number(uid), gid: Number(gid) }
const data = join(folder, 'data')
const run = { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }

execFileSync(
  join(programs, 'initdb'),
  ['-D', data, '-U', 'bench', '-A', 'trust', '--locale=C', '-E', 'UTF8', '-N'],
  run,
)
const settings = {
  port,
  listen_addresses: '127.0.0.1',
  unix_socket_directories: folder,
  shared_buffers: '2GB',
  work_mem: '32MB',
  max_wal_size: '8GB',
  fsync: 'off',
  jit: 'off',
  random_page_cost: '1.1',
}
const database = spawn(
  join(programs, 'postgres'),
  ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
  { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'ignore'] },
)
// Without clients it ends at once ("fast" shutdown).
const end = () => {
  database.once('close', () => process.exit(0))
  database.kill('SIGINT')
}
process.on('SIGTERM', end)
database.once('error', (error) => {
  console.error(error.message)
  process.exit(1)
})

const connection = { host: '127.0.0.1', port: Number(port), user: 'bench', database: 'postgres' }
for (let attempt = 0; ; attempt++) {
  const client = new pg.Client(connection)
  try {
    await client.connect()
    await client.end()
    break
  } catch (error) {
    if (attempt === 100) throw error
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
const pool = new pg.Pool({ ...connection, max: 16 })
await pool.query(`
  CREATE EXTENSION postgis;
  CREATE TABLE readings (
    buoy integer NOT NULL, time integer NOT NULL, height float8 NOT NULL, maximum float8, period float8, direction float8,
    temperature float8
  );
  CREATE TABLE buoys (
    id integer PRIMARY KEY, slug text UNIQUE, name text, lat float8, lng float8, source text, identifier text, country text,
    timezone text, virtual boolean, folded_name text, folded_identifier text, count integer, active boolean, newest integer,
    place geography(Point)
  )`)
await pipeline(
  createReadStream(readingsFile),
  spawn(
    join(programs, 'psql'),
    ['-q', '-h', '127.0.0.1', '-p', port, '-U', 'bench', 'postgres', '-c', 'COPY readings FROM STDIN CSV'],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  ).stdin,
)
await new Promise((resolve) => setTimeout(resolve, 500))
await pool.query('ALTER TABLE readings ADD PRIMARY KEY (buoy, time); CLUSTER readings USING readings_pkey')
for (const line of readFileSync(buoysFile, 'utf8').trimEnd().split('\n')) {
  const { id, slug, name, lat, lng, source, identifier, country, timezone, virtual } = JSON.parse(line)
  await pool.query(
    `INSERT INTO buoys SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
       (SELECT count(*) FROM readings WHERE buoy = $1), false, (SELECT max(time) FROM readings WHERE buoy = $1),
       ST_MakePoint($5, $4)::geography`,
    [id, slug, name, lat, lng, source, identifier, country, timezone, virtual, fold(name), fold(identifier)],
  )
}
await pool.query(
  `UPDATE buoys SET active = newest >= ${asOf - 86400} WHERE newest IS NOT NULL;
   CREATE EXTENSION IF NOT EXISTS pg_trgm;
   CREATE INDEX ON buoys USING gist (place) WHERE active AND NOT virtual;
   CREATE INDEX ON buoys (id) WHERE active;
   CREATE INDEX ON buoys (country, id) WHERE active;
   CREATE INDEX ON buoys USING gin (folded_name gin_trgm_ops);
   CREATE INDEX ON buoys USING gin (slug gin_trgm_ops);
   CREATE INDEX ON buoys USING gin (folded_identifier gin_trgm_ops);`,
)
// Not in one go with the above: VACUUM runs in no transaction.
await pool.query('VACUUM ANALYZE readings')
await pool.query('VACUUM ANALYZE buoys')

const READING = 'r.time, r.height, r.maximum, r.period, r.direction, r.temperature'
const BUOY = `b.id, b.slug, b.name, b.lat, b.lng, b.source, b.identifier, b.country, b.timezone, b.virtual, b.count, b.active, ${READING}`
const WITH_NEWEST = 'buoys b LEFT JOIN readings r ON r.buoy = b.id AND r.time = b.newest'

const names = new Map()
/** Runs a statement that the server has prepared after its first time. */
async function rowsOf(text, values) {
  let name = names.get(text)
  if (name === undefined) names.set(text, (name = `s${names.size}`))
  return (await pool.query({ name, text, values })).rows
}
const rowOf = ({ time, height, maximum, period, direction, temperature }) => [
  time,
  height,
  maximum,
  period,
  direction,
  temperature,
]
const shaped = (row) => buoyShapes(row, row.time === null ? null : readingOf(row.id, rowOf(row)), row.count)

const app = Fastify()
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${key}`)
    return reply.code(401).send({ error: 'unauthorized' })
})
app.get('/v2/buoys', async ({ query }) => {
  const { from, perPage, meta } = pageOf(query, query.country === undefined ? 50 : 500, 500)
  let where = 'b.active'
  const values = []
  if (query.country !== undefined) {
    values.push(query.country)
    where += ' AND b.country = $1'
  }
  const [rows, [{ count }]] = await Promise.all([
    rowsOf(
      `SELECT ${BUOY} FROM ${WITH_NEWEST} WHERE ${where} ORDER BY b.id LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
      [...values, perPage, from],
    ),
    rowsOf(`SELECT count(*)::int FROM buoys b WHERE ${where}`, values),
  ])
  return success({ buoys: rows.map((row) => shaped(row).listItem), count }, meta(count))
})
app.get('/v2/buoys/last_readings', async ({ query }) => {
  const ids = [
    ...new Set(
      query.ids
        .split(',')
        .slice(0, Number(query.limit ?? 3))
        .map(Number),
    ),
  ]
  const rows = await rowsOf(`SELECT ${BUOY} FROM ${WITH_NEWEST} WHERE b.id = ANY($1)`, [ids])
  const found = new Map(rows.map((row) => [row.id, row]))
  return success({
    buoys: ids.filter((id) => found.has(id)).map((id) => shaped(found.get(id)).lastReadingsItem),
    missing_ids: ids.filter((id) => !found.has(id)),
  })
})
app.get('/v2/buoys/search', async ({ query }) => {
  const text = fold(query.query.trim())
  const rows = await rowsOf(
    `SELECT ${BUOY}, b.folded_name, b.folded_identifier FROM ${WITH_NEWEST}
     WHERE b.folded_name LIKE $1 OR b.slug LIKE $1 OR b.folded_identifier LIKE $1`,
    [`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`],
  )
  const found = rows
    .map((row) => {
      const foldedName = row.folded_name
      return {
        row,
        foldedName,
        rank: searchRank({ foldedName, slug: row.slug, foldedIdentifier: row.folded_identifier }, text),
      }
    })
    .filter(({ rank }) => rank !== null)
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(b.row.active) - Number(a.row.active) ||
        byCodeUnits(a.foldedName, b.foldedName) ||
        a.row.id - b.row.id,
    )
    .slice(0, Number(query.limit ?? 10))
  return success({ buoys: found.map(({ row }) => shaped(row).searchItem), count: found.length })
})
app.get('/v2/buoys/nearest', async ({ query }, reply) => {
  const [lat, lng, limit] = [Number(query.lat), Number(query.lng), Number(query.limit ?? 1)]
  // The index orders on the spheroid, the contract on a sphere: some more than asked for, put in order here.
  const rows = await rowsOf(
    `SELECT ${BUOY} FROM ${WITH_NEWEST} WHERE b.active AND NOT b.virtual ORDER BY b.place <-> ST_MakePoint($1, $2)::geography LIMIT $3`,
    [lng, lat, limit + 5],
  )
  const found = rows
    .map((row) => ({ row, km: kilometres(lat, lng, row.lat, row.lng) }))
    .filter(({ km }) => km <= Number(query.max_distance ?? 150))
    .sort((a, b) => a.km - b.km || a.row.id - b.row.id)
    .slice(0, limit)
    .map(({ row, km }) => {
      const buoy = shaped(row)
      return { ...buoy.nearItem, distance_km: Math.round(km * 100) / 100, last_reading: buoy.last_reading }
    })
  if (found.length === 0) return notFound(reply)
  return success(limit === 1 ? { buoy: found[0] } : { buoys: found, count: found.length })
})
app.get('/v2/buoys/:id', async ({ params }, reply) => {
  const [row] = await rowsOf(`SELECT ${BUOY} FROM ${WITH_NEWEST} WHERE b.id = $1`, [Number(params.id)])
  return row === undefined ? notFound(reply) : success({ buoy: shaped(row).detail })
})
app.get('/v2/buoys/:id/readings', async ({ params, query }, reply) => {
  const id = Number(params.id)
  const [start, end] = [Date.parse(query.start_date) / 1000, Date.parse(query.end_date) / 1000]
  const { from, perPage, meta } = pageOf(query, 20, 100)
  const [[buoy], rows, [{ count }]] = await Promise.all([
    rowsOf('SELECT name, lat, lng, source, timezone AS dtz FROM buoys WHERE id = $1', [id]),
    rowsOf(
      `SELECT ${READING} FROM readings r WHERE r.buoy = $1 AND r.time BETWEEN $2 AND $3 ORDER BY r.time DESC LIMIT $4 OFFSET $5`,
      [id, Math.ceil(start), Math.floor(end), perPage, from],
    ),
    rowsOf('SELECT count(*)::int FROM readings r WHERE r.buoy = $1 AND r.time BETWEEN $2 AND $3', [
      id,
      Math.ceil(start),
      Math.floor(end),
    ]),
  ])
  if (buoy === undefined) return notFound(reply)
  return success(
    { buoy, readings: rows.map((row) => readingOf(id, rowOf(row))), count },
    { ...meta(count), date_range: { start: isoTime(start), end: isoTime(end) } },
  )
})
app.get('/v2/buoys/:id/readings/search', async ({ params, query }, reply) => {
  const id = Number(params.id)
  const target = Date.parse(`${query.date}T${query.time}:00Z`) / 1000
  const tolerance = Number(query.tolerance_hours ?? 3)
  const rows = await rowsOf(
    `(SELECT ${READING} FROM readings r WHERE r.buoy = $1 AND r.time <= $2 ORDER BY r.time DESC LIMIT 1)
     UNION ALL
     (SELECT ${READING} FROM readings r WHERE r.buoy = $1 AND r.time > $2 ORDER BY r.time LIMIT 1)`,
    [id, target],
  )
  const [closest] = rows.sort(
    (a, b) => Math.abs(a.time - target) - Math.abs(b.time - target) || a.time - b.time,
  )
  if (closest === undefined || Math.abs(closest.time - target) > tolerance * 3600) return notFound(reply)
  return success({
    closest_reading: {
      ...readingOf(id, rowOf(closest)),
      time_diff_minutes: Math.round(Math.abs(closest.time - target) / 60),
    },
    search_parameters: {
      target_datetime: isoTime(target),
      tolerance_hours: tolerance,
      search_range: { start: isoTime(target - tolerance * 3600), end: isoTime(target + tolerance * 3600) },
    },
  })
})
app.get('/v2/buoys/:id/readings/:reading', async ({ params }, reply) => {
  const id = Number(params.id)
  const [row] = await rowsOf(
    `SELECT b.name, ${READING} FROM buoys b JOIN readings r ON r.buoy = b.id WHERE b.id = $1 AND r.time = $2`,
    [id, Number(params.reading) - id * 1e10],
  )
  if (row === undefined) return notFound(reply)
  return success({ reading: readingOf(id, rowOf(row)), buoy: { id, name: row.name } })
})
await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
