/**
 * Short guides in Markdown: the description of the documentation, one heading each. `BASE` stands for the
 * base path.
 */

export interface Guide {
  title: string
  text: string
}

export const INTRODUCTION = `Ocean wave-buoy data over HTTP, read-only: where buoys are, what they measure now and have measured, charts and seasons,
satellite altimeter passes, and forecast, reading and tide of any point. All operations are \`GET\`; answers are JSON in UTF-8.`

export const GUIDES: readonly Guide[] = [
  {
    title: 'Quick start',
    text: `Take the address of the server, here the one that \`npm start\` gives it, and the key that you were given. Two operations need none: find a buoy by its name.

\`\`\`sh
URL=http://127.0.0.1:8080BASE
curl "$URL/buoys/search?query=anglet"
\`\`\`

All others take the key:

\`\`\`sh
curl -H "Authorization: Bearer $KEY" "$URL/buoys/anglet/readings?per_page=5"
\`\`\`

A success is \`{"status": "success", "data": …, "meta": …}\`, where \`meta.timestamp\` is the time of the answer. Lists that come in pages
also say \`page\`, \`per_page\` and \`total_pages\` there: go on until \`page\` is \`total_pages\`. The parameters:

- Numbers are plain decimal text: no exponent, no blanks, and no point in integers. Booleans are \`true\`, \`false\`, \`1\` or \`0\`, in any case.
- Times are ISO 8601 with \`Z\` or an offset, with or without milliseconds; a time without a zone is an error. A date alone is that UTC day: as a start its first second, as an end its last.
- Country codes are two capitals (\`FR\`); \`country=fr\` is an error. Units cannot be chosen: a parameter for them is unknown, and ignored like any other.
- An empty value counts as absent, an unknown parameter is ignored, and a parameter given twice is an error unless it is a list.
- \`per_page\` above its maximum is taken as the maximum, and \`meta.per_page\` says so. A \`limit\` outside its range is an error.

Heights are in metres, periods in seconds, directions in degrees clockwise from north and say where waves or wind come from, speeds in
km/h, temperatures in °C, distances in km. Times are UTC in whole seconds; only buckets of series carry the offset of their zone. What was not
measured is \`null\`: never 0, never a missing key. Texts such as names come from the sources: escape them before they become HTML.

Other programs may call the API from a browser: every answer allows any origin.`,
  },
  {
    title: 'Keys and quota',
    text: `Send the key in the header \`Authorization: Bearer KEY\`. A client that cannot set headers may use the parameter \`api_key=KEY\`, but queries
end up in logs and history. Where both are sent, the header counts. Whoever runs the server issues keys; a key is shown once and cannot be looked up
later, only replaced, and the old one ends at once.

Without a key the answer is 401 \`API key required\`, with a wrong one 401 \`Invalid API key\`. \`GET /buoys/search\` and
\`GET /buoys/nearest\` need none: there a wrong key is ignored, and calls without a key count for the address they come from (1,000 an hour
unless the server is set otherwise).

A key has a quota per clock hour, UTC, 1,000 calls unless agreed otherwise. Each call counts as one, whatever its size and whatever its answer:
also 304, 400, 404 and 422. Every answer to a valid key says where it stands:

| Header | Meaning |
|---|---|
| \`X-RateLimit-Limit\` | calls an hour |
| \`X-RateLimit-Remaining\` | calls left in this hour |
| \`X-RateLimit-Reset\` | when the hour ends, Unix time in seconds |

When nothing is left the answer is 429 with \`Retry-After\` in seconds, the same number as \`retry_after\` in the body. A retry at exactly that time succeeds.
Readings come about every 30 minutes: asking more often gives the same again.`,
  },
  {
    title: 'Errors',
    text: `The status tells what happened, and so does \`error\` in the body, a code that stays. \`message\` is for people and may change: it names the
parameter, what is wrong with it and what is allowed. \`details.parameter\` names the parameter for programs.

| Status | \`error\` | When |
|---|---|---|
| 400 | \`bad_request\` | a parameter is missing, malformed or outside its range |
| 401 | \`unauthorized\` | the key is missing or wrong |
| 404 | \`resource_not_found\` | no such path, buoy, reading, mission or spot; nothing near enough |
| 405 | \`method_not_allowed\` | another method than \`GET\`, \`HEAD\` and \`OPTIONS\`; \`Allow\` names them |
| 422 | \`validation_failed\` | well-formed, but impossible; on operations that do not list 400 also a missing or malformed parameter |
| 429 | \`rate_limit_exceeded\` | the quota of this hour is used up; \`Retry-After\` |
| 500 | \`internal_error\` | our fault |
| 503 | \`service_unavailable\` | no data is loaded yet, or too many long answers are being made; \`Retry-After\` |

Every error carries \`request_id\`, also as the header \`X-Request-Id\`: quote it when you ask for help. Send an \`X-Request-Id\` of your own, a UUID, and it is used
instead. An empty list is no error. A header and address of more than 16 KB together are refused with 431 before anything looks at them.`,
  },
  {
    title: 'Conditional requests',
    text: `Every success carries an \`ETag\`, which depends on the data and the question and not on the key. Send it back in \`If-None-Match\`, and as long as nothing has changed
the answer is 304 without a body. It still counts as a call. \`Cache-Control\` lives until the next data are expected; answers to a key are
\`private\`. \`X-Snapshot-Id\` names the snapshot of the data that an answer was made from: two answers with the same one belong together.

\`HEAD\` gives the headers of \`GET\`. \`OPTIONS\` answers 204 without a key and is not counted. Send \`Accept-Encoding\` and answers may come compressed.`,
  },
  {
    title: 'Satellites',
    text: `Altimeters on satellites measure the height of waves along their track. A **virtual buoy** is a fixed point of the sea that gets its readings from the passes over it. Virtual buoys
are in lists, search and map, but not among the nearest buoys and not in the conditions, where only buoys in the water count.

\`GET /buoys/satellites\` lists the missions, \`GET /buoys/satellite_passes\` their passes; \`mission\` takes a \`slug\` of the former. By default only fresh passes are
listed, \`active_only=false\` gives all that the snapshot holds. A pass may cross the antimeridian: then \`west\` is greater than \`east\`.`,
  },
  {
    title: 'Data sources and credits',
    text: `\`source\` names the network of a buoy, and \`tide_source\` in the conditions credits a harbour's constituents. Data keep the licence of their owners. Show their credit where you show
the data:

| Data | Credit | Licence |
|---|---|---|
| NDBC buoys | NOAA National Data Buoy Center (NDBC) and its partners | public domain (work of the United States government) |
| Candhis buoys | Candhis, Cerema and its partners | ask Cerema; statements about re-use differ |
| Satellite passes | Generated using E.U. Copernicus Marine Service Information | Copernicus Marine Service licence |
| Forecasts from Open-Meteo | Open-Meteo.com, with a link | CC BY 4.0 |
| Tides | the text of \`tide_source\` | as it says |

A server may load other sources; whoever runs it knows their terms. The demo data that groundswell starts with are real places with made-up readings: do not sail by them.`,
  },
]

/** The guides as one Markdown text. */
export function guidesText(basePath: string): string {
  const sections = GUIDES.map(({ title, text }) => `# ${title}\n\n${text}`)
  return [INTRODUCTION, ...sections].join('\n\n').replaceAll('8080BASE', `8080${basePath}`)
}
