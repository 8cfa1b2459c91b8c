/**
 * The contract's JSON shapes, as both peers answer them. Rows are `[time, height, maximum, period, direction,
 * temperature]`.
 */

const POINTS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')
const OPERATION_REACH = 86400

export const isoTime = (epoch) => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

const hex = (value) => value.toString(16).padStart(12, '0')

function uuidOf(buoy, time) {
  const clock = hex(time)
  return `${clock.slice(0, 8)}-${clock.slice(8)}-8000-8000-${hex(buoy)}`
}

function energy(height, period) {
  if (height === null || period === null || height <= 0 || period <= 0) return null
  const length = (9.81 * period * period) / (2 * Math.PI)
  return Math.round(((1 / 8) * 1025 * 9.81 * height * height * length) / 1000)
}

export function readingOf(buoy, [time, height, maximum, period, direction, temperature]) {
  return {
    id: buoy * 1e10 + time,
    uuid: uuidOf(buoy, time),
    significient_height: height,
    maximum_height: maximum,
    period,
    time: isoTime(time),
    water_temperature: temperature,
    direction,
    direction_compass: direction === null ? null : POINTS[Math.floor((direction + 11.25) / 22.5) % 16],
    unit: 'm',
    energy_per_wave: energy(height, period),
  }
}

function lastReadingOf(reading) {
  if (reading === null) return null
  const { uuid, significient_height, maximum_height, period, time, water_temperature, direction, unit } =
    reading
  return { uuid, significient_height, maximum_height, period, time, water_temperature, direction, unit }
}

const countryNames = new Intl.DisplayNames(['en'], { type: 'region' })

/** Everything about a buoy that answers hold, made once: `newest` is its newest reading or null. */
export function buoyShapes(buoy, newest, count) {
  const { id, name, slug, lat, lng, source, identifier, timezone, country } = buoy
  const last_reading = lastReadingOf(newest)
  const last_reading_time = newest === null ? null : newest.time
  const countryName = country === null ? null : countryNames.of(country)
  const listItem = {
    id,
    name,
    slug,
    lat,
    lng,
    source,
    source_identifier: identifier,
    last_reading_time,
    readings_count: count,
    last_reading,
    timezone,
  }
  return {
    ...buoy,
    newest,
    listItem,
    detail: { ...listItem, country: countryName, dtz: timezone },
    searchItem: { id, name, slug, lat, lng, source, source_identifier: identifier, country: countryName },
    lastReadingsItem: { id, name, lat, lng, source, last_reading: newest },
    summary: { name, lat, lng, source, dtz: timezone },
    nearItem: { id, name, lat, lng, source, source_identifier: identifier },
    last_reading,
  }
}

export const isActive = (newestTime, asOf) => newestTime !== null && newestTime >= asOf - OPERATION_REACH

/** Great circle in km. */
export function kilometres(lat1, lng1, lat2, lng2) {
  const radians = Math.PI / 180
  const north = Math.sin(((lat2 - lat1) * radians) / 2)
  const east = Math.sin(((lng2 - lng1) * radians) / 2)
  const half = north * north + Math.cos(lat1 * radians) * Math.cos(lat2 * radians) * east * east
  return 2 * 6371 * Math.asin(Math.min(1, Math.sqrt(half)))
}

/** How well a buoy fits a folded query, 0 the best; null when it does not. */
export function searchRank({ foldedName, slug, foldedIdentifier }, query) {
  if (slug === query || foldedIdentifier === query) return 0
  if (foldedName.startsWith(query)) return 1
  const texts = [foldedName, slug, foldedIdentifier]
  const starts = (text) => {
    for (let at = text.indexOf(query); at !== -1; at = text.indexOf(query, at + 1)) {
      if (at === 0 || !/[\p{L}\p{N}]$/u.test(text.slice(0, at))) return true
    }
    return false
  }
  if (texts.some(starts)) return 2
  return texts.some((text) => text.includes(query)) ? 3 : null
}

export const fold = (text) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

export const byCodeUnits = (a, b) => (a < b ? -1 : Number(a > b))

export function success(data, meta = {}) {
  return { status: 'success', data, meta: { ...meta, timestamp: isoTime(Math.floor(Date.now() / 1000)) } }
}

export function pageOf(query, usual, most) {
  const perPage = Math.min(most, Number(query.per_page ?? usual))
  const page = Number(query.page ?? 1)
  return {
    from: (page - 1) * perPage,
    perPage,
    meta: (count) => ({ page, per_page: perPage, total_pages: Math.ceil(count / perPage) }),
  }
}

export function notFound(reply) {
  return reply.code(404).send({ error: 'resource_not_found', message: 'Not found' })
}
