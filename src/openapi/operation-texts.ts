/**
 * What the documentation adds about each operation to the declarations of its handler: a description of its
 * answer, and example requests to the demo data. The answers to these are in `examples.json`.
 */
import type { Declared } from '../operation/operation.ts'
import type { Format } from '../operation/shape.ts'
import EXAMPLES from './examples.json' with { type: 'json' }

type Tag = 'Buoys' | 'Readings' | 'Satellites' | 'Conditions' | 'Changes'

export const TAGS: { readonly [tag in Tag]: string } = {
  Buoys: 'Where the buoys are, which of them report now, and how to find one.',
  Readings: 'What a buoy has measured: pages of readings, a chart, seasons side by side.',
  Satellites: 'Altimeter missions and their passes over virtual buoys.',
  Conditions: 'Forecast, nearest reading and tide of one point.',
  Changes: 'What is new since a snapshot, for those who keep a copy, and an event when there is a new one.',
}

interface OperationTexts {
  tag: Tag
  /** Markdown. */
  description: string
  /** Requests below the base path, the simplest first, by a word for the documentation's list. */
  examples: { readonly [word: string]: string }
}

/** The time of the demo snapshot behind the examples, and of their answers. */
export const EXAMPLES_AS_OF = '2026-11-01T06:00:00Z'
/** The id of the demo snapshot, which changes with the demo data. */
const EXAMPLES_SNAPSHOT = 'c0dfa5839c5782b49537ade6'
/** The UUID in the examples of errors. */
export const EXAMPLES_REQUEST_ID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'

/** Texts of a stream, by a word for the documentation's list. */
export const STREAM_EXAMPLES: { readonly [word: string]: string } = {
  begin: `retry: 5000\n\nevent: snapshot\nid: ${EXAMPLES_SNAPSHOT}\ndata: {"snapshot":"${EXAMPLES_SNAPSHOT}","as_of":"${EXAMPLES_AS_OF}","since":null,"changes":null}\n\n`,
  later: `event: snapshot\nid: ${EXAMPLES_SNAPSHOT}\ndata: {"snapshot":"${EXAMPLES_SNAPSHOT}","as_of":"${EXAMPLES_AS_OF}","since":"0123456789abcdef01234567","changes":{"buoys":{"added":0,"changed":2,"removed":0},"readings":{"added":2,"changed":0,"removed":0},"passes":false,"forecast":true}}\n\n`,
}

/** The arguments of paths. */
export const PATH_PARAMETERS: { readonly [name: string]: { description: string; example: string } } = {
  buoy_id: {
    description:
      'The `id` or the `slug` of a buoy. Digits are looked up as an `id` first. A text that is neither gives a 404.',
    example: 'anglet',
  },
  reading_id: {
    description: 'The `id` or the `uuid` of a reading of this buoy. Any other text gives a 404.',
    example: '61793512800',
  },
}

const ACTIVE =
  "A buoy is active when its newest reading is at most 24 hours (a setting of the server) older than the snapshot's time."

export const OPERATION_TEXTS: { readonly [operation: string]: OperationTexts } = {
  listBuoys: {
    tag: 'Buoys',
    description: `Buoys ordered by \`id\`, or by distance with \`near\`. A buoy must pass all filters. A box whose west is greater than its east crosses the antimeridian. Latitudes off the globe are clamped, longitudes are wrapped, and a south above the north is an error. ${ACTIVE} \`active_only=false\` also gives the other buoys. A filter that matches nothing gives an empty list with \`total_pages\` 0. A page past the last is an empty list with the true \`count\`.`,
    examples: {
      first: '/buoys?per_page=2',
      near: '/buoys?near=43.5,-1.6&radius=50&per_page=1',
      nothing: '/buoys?country=FR&source=NDBC',
    },
  },
  getBuoy: {
    tag: 'Buoys',
    description:
      'One buoy by id or slug, active or not. `country` is an English name. `dtz` repeats `timezone` for clients that expect it there.',
    examples: { slug: '/buoys/anglet' },
  },
  lastReadings: {
    tag: 'Buoys',
    description:
      'The newest reading of each buoy, in the order of `ids`, each buoy once. Only the first `limit` ids are processed; ids after them are in neither `buoys` nor `missing_ids`. Write `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2` or a mixture. Each id must be an integer from 1 to 9007199254740991.',
    examples: { two: '/buoys/last_readings?ids=6,999999' },
  },
  searchBuoys: {
    tag: 'Buoys',
    description:
      'Case and accents do not matter. Exact slugs and source identifiers come first, then names that begin with the text, then names with a word that begins with it, then names that contain it. Within each group active buoys come first, then the order is by name. The length is counted without blanks at both ends. Needs no key; *Keys and quota* says how such calls are counted.',
    examples: { name: '/buoys/search?query=hatteras' },
  },
  nearestBuoys: {
    tag: 'Buoys',
    description:
      'Active buoys in the water by great-circle distance, never virtual ones. Without `limit`, or with `limit` 1, the answer is `data.buoy`; with a larger one it is `data.buoys` and `data.count`. Without a buoy within `max_distance` the answer is a 404. Needs no key.',
    examples: {
      one: '/buoys/nearest?lat=43.5&lng=-1.6',
      several: '/buoys/nearest?lat=43.5&lng=-1.6&limit=2',
    },
  },
  mapBuoys: {
    tag: 'Buoys',
    description:
      'All active buoys in one answer, with what a map draws. Virtual buoys also name the satellite pass of their newest reading. A box whose west is greater than its east crosses the antimeridian. Latitudes off the globe are clamped, longitudes are wrapped.',
    examples: {
      box: '/buoys/map?bounds={"north":44,"south":43,"east":-1,"west":-2}',
      virtual: '/buoys/map?bounds={"north":47,"south":46,"east":-7,"west":-8}',
    },
  },
  listChanges: {
    tag: 'Changes',
    description:
      'How the current snapshot, or the one that `snapshot` names, differs from the one that `since` names. `buoys` is not paged. It has every buoy that is new (`added`), is gone (`removed`), or has changed (`changed`): it moved, was renamed or described differently, became active or inactive, or its readings differ. `readings` of a buoy counts these by months: `from` and `to` are the times of the first and the last of them. `passes` and `forecast` say whether anything of them differs.\n\n`include=readings` adds the readings themselves, in pages, by buoy and time; `buoys` is on the first page alone. A removed reading is given as it was. Follow the pages with `snapshot` set to the `until` of the first: `Link` does.\n\nNext time, use the `until` of this answer as `since`. A `since` that the server no longer holds gives a 410: fetch the lists again. With the current snapshot as `since` the answer has no changes.',
    examples: { nothing: `/changes?since=${EXAMPLES_SNAPSHOT}` },
  },
  streamEvents: {
    tag: 'Changes',
    description:
      'A stream of Server-Sent Events that says when there is a new snapshot. It begins with `retry: 5000` and the event `snapshot` of what is served now; then there is one for each later snapshot. `data` is JSON on one line: `snapshot` is its id, which is the `id` of the event too, `as_of` its time. `changes` counts how it differs from the snapshot `since`, in the words of `/changes`, where the readings are. Both are `null` in the first event, unless the header `Last-Event-ID` names a snapshot that the server still holds, and `null` where it no longer holds that: fetch the lists again then. A client that falls behind gets one event for several snapshots.\n\nWith `buoy` there is an event only where one of these buoys changed. It counts these alone and has the ids of the changed ones in `ids`; the first event is always sent. An id that no buoy has is watched for, a slug that no buoy has gives a 404.\n\nAfter 20 s of silence the server sends a comment, a line that begins with a colon. A client that does not read is cut off. A stream ends when the server stops, when its key is revoked or its quota is used up: reconnect after `retry`. It costs one call of the quota, and one more for each further hour. A key may have 8 streams at a time (a setting of the server); one more gives a 429, and too many in all a 503.',
    examples: {},
  },
  listFiles: {
    tag: 'Changes',
    description:
      'The files that the snapshot was exported as, for databases that load all readings without requests to this server: for each network one file a year, in the last year one a month, and all buoys. `path` is relative to `address`, where that is a bucket; otherwise ask the operator where they are. A file is named by its content and never changes; what changes gets a file of a new name. `snapshot` is the one whose data the files are: after an export that failed an earlier one. Where nothing is exported, the list is empty.',
    examples: { all: '/files' },
  },
  listCountries: {
    tag: 'Buoys',
    description: 'The countries that have active buoys, by English name, with the number of these buoys.',
    examples: { all: '/countries' },
  },
  listReadings: {
    tag: 'Readings',
    description:
      "There are three ways to choose readings: a range with `start_date` and `end_date` (both included, either may be left out), one UTC day with `date`, or the three hours around a moment with `timestamp`. A request with more than one of them is a 422. A request with none of them gives all readings. A range without readings gives an empty list. `meta.date_range` is the range asked for. `dtz` is the buoy's IANA time zone.",
    examples: {
      newest: '/buoys/anglet/readings?per_page=2',
      day: '/buoys/anglet/readings?date=2026-10-31&order=asc&per_page=1',
    },
  },
  closestReading: {
    tag: 'Readings',
    description:
      'The reading closest to `date` and `time`, both in UTC. Of two that are equally close it is the earlier one. Both ends of the tolerance are included. Without a reading within it the answer is a 404. `time_diff_minutes` is rounded to whole minutes.',
    examples: { moment: '/buoys/anglet/readings/search?date=2026-10-31&time=09:10' },
  },
  getReading: {
    tag: 'Readings',
    description:
      'One reading by its integer id or its UUID. Both are made of buoy and time, so they stay the same in every later snapshot. The id of a reading of another buoy gives a 404.',
    examples: { id: '/buoys/anglet/readings/61793512800' },
  },
  chart: {
    tag: 'Readings',
    description:
      "Parallel arrays over one `time` axis: readings at their own times, forecast and tide at full hours. An array has `null` where it has no value for a time. Without dates the chart begins seven days before the snapshot's time and ends three days after it. A range may cover 31 days. Note the name `significant_height` here; `data.fields` names the field of a reading.",
    examples: {
      hours: '/buoys/anglet/readings/chart?start_date=2026-11-01T05:00:00Z&end_date=2026-11-01T07:00:00Z',
    },
  },
  readingSeries: {
    tag: 'Readings',
    description:
      "One metric over the same season of several years. Without years the answer has the last 10 complete seasons. With years it may have up to 13. With `end_year` alone it has the ten seasons up to that year.\n\nThe season is the calendar year unless its days are given. Each of these parameters may also begin with `season_` (`season_start_month`). A season over New Year belongs to the year in which it starts. In years without 29 February a season that ends on it ends on 28 February, and one that starts on it starts on 1 March. A season is complete when its last day is over at the snapshot's time.\n\nBuckets follow the clock of `timezone`. Weeks are runs of seven days from the start of the season; the last one may be shorter. Buckets without a sample are left out. For directions `median` and `avg` both give the circular mean.\n\nThese are a 422: `min` or `max` of a direction, a metric that the buoy's network does not measure (coastal networks measure the first five), a day that no year has, a start after the end, and too many seasons.",
    examples: {
      weeks:
        '/buoys/saint-jean-de-luz/readings/series?metric=significient_height&bucket=week&start_year=2025&end_year=2026&start_month=10&start_day=1&end_month=10&end_day=14',
      days: '/buoys/saint-jean-de-luz/readings/series?metric=direction&aggregation=avg&start_year=2026&end_year=2026&start_month=10&start_day=1&end_month=10&end_day=3&timezone=UTC',
    },
  },
  listSatellites: {
    tag: 'Satellites',
    description:
      'Every mission that passes may come from, with or without a pass in the snapshot. `locale` sets the language of the descriptions. Without it the header `Accept-Language` does, quality values included.',
    examples: { english: '/buoys/satellites', french: '/buoys/satellites?locale=fr' },
  },
  listSatellitePasses: {
    tag: 'Satellites',
    description:
      "Passes, newest first by `started_at`. A pass is fresh when one of its observations is within the active window before the snapshot's time. `bounds` has `west` greater than `east` where the pass crosses the antimeridian. A mission that does not exist gives a 404.",
    examples: {
      newest: '/buoys/satellite_passes?limit=2',
      mission: '/buoys/satellite_passes?mission=sentinel-6a&active_only=false&limit=1',
    },
  },
  conditions: {
    tag: 'Conditions',
    description:
      'Everything about one point at one time, by default the current minute. The forecast comes from the nearest forecast point within 50 km and is interpolated in time. The tide is predicted for the nearest harbour within 100 km. The reading is that of the nearest buoy within 50 km that has one within 3 hours of `time`; if none has, of the nearest that has one within 24 hours. What is out of reach is `null` under its key; a missing reading is `{"exists": false}`. `spot_id` adds `spot` and `nearby`. A spot that does not exist gives a 404.',
    examples: {
      point: `/conditions?lat=43.4&lng=-1.7&time=${EXAMPLES_AS_OF}`,
      spot: `/conditions?lat=37.4953&lng=-122.4969&time=${EXAMPLES_AS_OF}&spot_id=1`,
      ocean: `/conditions?lat=0&lng=-140&time=${EXAMPLES_AS_OF}`,
    },
  },
}

export interface Refused {
  status: 400 | 401 | 404 | 410 | 422 | 429
  word: string
  request: string
  /** What the request carries instead of a good key. */
  key?: 'none' | 'wrong' | 'used-up'
}

/**
 * Bodies of answers by request, and of refusals by `refusalKey`: what is not JSON as text, Parquet as a table
 * of what is in the file.
 */
export type ExampleAnswers = { readonly [request: string]: unknown }

/** `npm run openapi` writes them; a test checks that a server over the demo still answers so. */
export const EXAMPLE_ANSWERS: ExampleAnswers = EXAMPLES

export interface ExampleRequest {
  word: string
  request: string
}

/** The example requests of a format: all requests of JSON, and the first in another. */
export function exampleRequests({ name }: Declared, format: Format): ExampleRequest[] {
  const requests = Object.entries(OPERATION_TEXTS[name].examples).map(([word, request]) => ({
    word,
    request,
  }))
  if (format === 'json') return requests
  return requests.slice(0, 1).map(({ word, request }) => ({
    word,
    request: `${request}${request.includes('?') ? '&' : '?'}format=${format}`,
  }))
}

/** The key of its answer among the examples. One request may be refused in several ways. */
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
  { status: 410, word: 'not_held', request: '/buoys?snapshot=000000000000000000000000' },
  { status: 422, word: 'out_of_range', request: '/buoys/satellite_passes?limit=500' },
  { status: 422, word: 'two_ways', request: '/buoys/anglet/readings?date=2026-10-31&timestamp=1793512800' },
  {
    status: 422,
    word: 'too_many_seasons',
    request: '/buoys/anglet/readings/series?metric=period&start_year=2000&end_year=2026',
  },
  { status: 429, word: 'used_up', request: '/countries', key: 'used-up' },
]
