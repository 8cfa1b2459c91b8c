/**
 * What the documentation says of each operation beside what its handler declares: what a user needs to know
 * of its answer, and requests to the demo data as examples, whose answers are in `examples.ts`.
 */

export type Tag = 'Buoys' | 'Readings' | 'Satellites' | 'Conditions'

export const TAGS: { readonly [tag in Tag]: string } = {
  Buoys: 'Where the buoys are, which of them report, and how to find one.',
  Readings: 'What one buoy has measured: pages of readings, a chart, seasons of several years.',
  Satellites: 'Altimeter missions and their passes over virtual buoys.',
  Conditions: 'Forecast, nearest reading and tide of one point.',
}

export interface OperationTexts {
  tag: Tag
  /** Markdown. */
  description: string
  /** Requests below the base path, the plainest first, by a word for the documentation's list. */
  examples: { readonly [word: string]: string }
}

/** The moment that the demo snapshot of the examples is made for, and that its answers give as their time. */
export const EXAMPLES_AS_OF = '2026-11-01T06:00:00Z'

/** The arguments of paths. */
export const PATH_PARAMETERS: { readonly [name: string]: { description: string; example: string } } = {
  buoy_id: {
    description: 'The `id` or the `slug` of a buoy. Digits are an id first; a text that is neither is a 404.',
    example: 'anglet',
  },
  reading_id: {
    description: 'The `id` or the `uuid` of a reading of this buoy; another text is a 404.',
    example: '61793512800',
  },
}

const ACTIVE =
  "A buoy is active when its newest reading is no older than 24 hours (a setting of the server) at the snapshot's time."

export const OPERATION_TEXTS: { readonly [operation: string]: OperationTexts } = {
  listBuoys: {
    tag: 'Buoys',
    description: `Buoys by \`id\`, with \`near\` by distance. All filters combine. A box whose west is greater than its east crosses the antimeridian; off the globe, latitudes are clamped and longitudes wrapped; a south above the north is an error. ${ACTIVE} \`active_only=false\` also gives the others. A filter that fits nothing is an empty list with \`total_pages\` 0, and so is a page past the last, with the true \`count\`.`,
    examples: {
      first: '/buoys?per_page=2',
      near: '/buoys?near=43.5,-1.6&radius=50&per_page=1',
      nothing: '/buoys?country=FR&source=NDBC',
    },
  },
  getBuoy: {
    tag: 'Buoys',
    description:
      'One buoy, active or not, by id or slug. `country` is its English name; `dtz` repeats `timezone` for clients that look for it there.',
    examples: { slug: '/buoys/anglet' },
  },
  lastReadings: {
    tag: 'Buoys',
    description:
      'The newest reading of each buoy, in the order asked for, each buoy once. Only the first `limit` supplied ids are processed: what comes after them is neither answered nor missing. Write `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2` or a mixture. An id that is no integer from 1 to 9007199254740991 is an error.',
    examples: { two: '/buoys/last_readings?ids=6,999999' },
  },
  searchBuoys: {
    tag: 'Buoys',
    description:
      'Case and accents do not count. Exact slugs and source identifiers come first, then names that begin with the text, then words that do, then names that hold it; active buoys before others, then by name. Length counts characters after blanks at both ends are taken off. Needs no key; see *Keys and quota* for how such calls are counted.',
    examples: { name: '/buoys/search?query=hatteras' },
  },
  nearestBuoys: {
    tag: 'Buoys',
    description:
      'Active buoys in the water by great-circle distance, never virtual ones. With `limit` 1 or without it the answer is `data.buoy`, above 1 `data.buoys` and `data.count`. Where nothing lies within `max_distance` the answer is a 404. Needs no key.',
    examples: {
      one: '/buoys/nearest?lat=43.5&lng=-1.6',
      several: '/buoys/nearest?lat=43.5&lng=-1.6&limit=2',
    },
  },
  mapBuoys: {
    tag: 'Buoys',
    description:
      'All active buoys in one answer, in the form that a map draws. Virtual buoys also name the satellite pass that gave them their newest reading. A box whose west is greater than its east crosses the antimeridian; off the globe, latitudes are clamped and longitudes wrapped.',
    examples: {
      box: '/buoys/map?bounds={"north":44,"south":43,"east":-1,"west":-2}',
      virtual: '/buoys/map?bounds={"north":47,"south":46,"east":-7,"west":-8}',
    },
  },
  listCountries: {
    tag: 'Buoys',
    description: 'The countries that have active buoys, by English name, with their number.',
    examples: { all: '/countries' },
  },
  listReadings: {
    tag: 'Readings',
    description:
      "Ask for a range with `start_date` and `end_date` (both ends included, either may be left out), for one UTC day with `date`, or for the three hours around a moment with `timestamp`: more than one of the three ways is a 422. Without any, all readings. A range without readings is an empty list, not an error. `meta.date_range` is the range asked for. `dtz` is the buoy's IANA time zone.",
    examples: {
      newest: '/buoys/anglet/readings?per_page=2',
      day: '/buoys/anglet/readings?date=2026-10-31&order=asc&per_page=1',
    },
  },
  closestReading: {
    tag: 'Readings',
    description:
      'The reading closest to `date` and `time`, both UTC; of two equally far the earlier. Both ends of the tolerance are included. Nothing within it is a 404. `time_diff_minutes` is rounded to whole minutes.',
    examples: { moment: '/buoys/anglet/readings/search?date=2026-10-31&time=09:10' },
  },
  getReading: {
    tag: 'Readings',
    description:
      'One reading, by the integer id or by the UUID. Both are made of buoy and time, so they stay the same in every later snapshot. A reading of another buoy is a 404.',
    examples: { id: '/buoys/anglet/readings/61793512800' },
  },
  chart: {
    tag: 'Readings',
    description:
      "Parallel arrays over one `time` axis: readings at their own times, forecast and tide at full hours, `null` where a series has no value at a time. Without dates it reaches from seven days before to three days after the snapshot's time. A range may cover 31 days. Note the spelling `significant_height` here; `data.fields` names the reading's field.",
    examples: {
      hours: '/buoys/anglet/readings/chart?start_date=2026-11-01T05:00:00Z&end_date=2026-11-01T07:00:00Z',
    },
  },
  readingSeries: {
    tag: 'Readings',
    description:
      "One metric over the same season of several years. Without years it is the last 10 complete seasons, with them at most 13; without `start_year` ten that end with `end_year`. The season is the calendar year unless its days are given, each also with `season_` before its name (`season_start_month`). One over New Year belongs to the year in which it starts; 29 February as its end is 28 February in other years, as its start 1 March. A season is complete when its last day is over at the snapshot's time.\n\nBuckets follow the clock of `timezone`. Weeks are runs of seven days from the start of the season, the last may be short. Buckets without a sample are left out. Directions have a circular mean for both `median` and `avg`; their `min` and `max` are a 422, and so are a metric that the buoy's network does not measure (coastal networks measure the first five), a day that no year has, a start after the end and too many seasons.",
    examples: {
      weeks:
        '/buoys/saint-jean-de-luz/readings/series?metric=significient_height&bucket=week&start_year=2025&end_year=2026&start_month=10&start_day=1&end_month=10&end_day=14',
      days: '/buoys/saint-jean-de-luz/readings/series?metric=direction&aggregation=avg&start_year=2026&end_year=2026&start_month=10&start_day=1&end_month=10&end_day=3&timezone=UTC',
    },
  },
  listSatellites: {
    tag: 'Satellites',
    description:
      'Every mission that passes may come from, also those without a pass in the snapshot. `locale` beats the header `Accept-Language`, whose quality values count.',
    examples: { english: '/buoys/satellites', french: '/buoys/satellites?locale=fr' },
  },
  listSatellitePasses: {
    tag: 'Satellites',
    description:
      "Newest first by `started_at`. A pass is fresh when one of its observations is no older than the active window at the snapshot's time. `bounds` has `west` greater than `east` where the pass crosses the antimeridian. A mission that does not exist is a 404.",
    examples: {
      newest: '/buoys/satellite_passes?limit=2',
      mission: '/buoys/satellite_passes?mission=sentinel-6a&active_only=false&limit=1',
    },
  },
  conditions: {
    tag: 'Conditions',
    description:
      'Everything about one point at one time; without `time` it is the current minute. The forecast is interpolated in time at the nearest forecast point within 50 km, the tide predicted for the nearest harbour within 100 km, the reading that of the nearest buoy within 50 km that has one within 24 hours. What is out of reach is `null` under its key, and a missing reading is `{"exists": false}`. `spot_id` adds `spot` and `nearby`; a spot that does not exist is a 404.',
    examples: {
      point: `/conditions?lat=43.4&lng=-1.7&time=${EXAMPLES_AS_OF}`,
      spot: `/conditions?lat=37.4953&lng=-122.4969&time=${EXAMPLES_AS_OF}&spot_id=1`,
      ocean: `/conditions?lat=0&lng=-140&time=${EXAMPLES_AS_OF}`,
    },
  },
}

export interface Refused {
  status: 400 | 401 | 404 | 422 | 429
  word: string
  request: string
  /** What the request carries instead of a good key. */
  key?: 'none' | 'wrong' | 'used-up'
}

/** The name of its answer among the examples: a request may be refused in several ways. */
export function refusalKey({ status, request, word }: Refused): string {
  return `${status} ${word} ${request}`
}

/** Requests that are refused, by a word for the documentation's list. */
export const REFUSED: readonly Refused[] = [
  { status: 400, word: 'missing', request: '/buoys/last_readings' },
  { status: 400, word: 'too_short', request: '/buoys/search?query=a' },
  { status: 400, word: 'out_of_range', request: '/buoys/nearest?lat=91&lng=0' },
  { status: 400, word: 'malformed', request: '/buoys?page=first' },
  { status: 400, word: 'twice', request: '/buoys?page=1&page=2' },
  { status: 401, word: 'missing', request: '/countries', key: 'none' },
  { status: 401, word: 'invalid', request: '/countries', key: 'wrong' },
  { status: 404, word: 'buoy', request: '/buoys/atlantis' },
  { status: 404, word: 'reading', request: '/buoys/anglet/readings/1' },
  { status: 404, word: 'mission', request: '/buoys/satellite_passes?mission=apollo-11' },
  { status: 404, word: 'nothing_near', request: '/buoys/nearest?lat=0&lng=-140' },
  { status: 422, word: 'out_of_range', request: '/buoys/satellite_passes?limit=500' },
  { status: 422, word: 'two_ways', request: '/buoys/anglet/readings?date=2026-10-31&timestamp=1793512800' },
  {
    status: 422,
    word: 'too_many_seasons',
    request: '/buoys/anglet/readings/series?metric=period&start_year=2000&end_year=2026',
  },
  { status: 429, word: 'used_up', request: '/countries', key: 'used-up' },
]
