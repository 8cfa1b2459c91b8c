/** The guides of the documentation, in Markdown with one heading each. `BASE` becomes the base path. */

interface Guide {
  title: string
  text: string
}

const INTRODUCTION = `Ocean wave-buoy data over HTTP, read-only. The API answers where buoys are, what they measure now and
what they have measured, with charts and seasons. It has satellite altimeter passes, and forecast, reading and tide of any point.
All operations are \`GET\`. Answers are JSON in UTF-8; lists, charts and series are also CSV, NDJSON and GeoJSON.`

const GUIDES: readonly Guide[] = [
  {
    title: 'Quick start',
    text: `Every example finds a buoy by its name, which needs no key, and prints its newest readings, which need one: put your key into the
variable \`KEY\` of your environment. \`http://127.0.0.1:8080\` is the server of \`npm start\`; on the documentation page it is the server of that page.

With curl:

\`\`\`sh
URL=http://127.0.0.1:8080BASE
curl "$URL/buoys/search?query=anglet&limit=1"
curl -H "Authorization: Bearer $KEY" "$URL/buoys/anglet/readings?per_page=3"
\`\`\`

With JavaScript, in Node:

\`\`\`js
const url = 'http://127.0.0.1:8080BASE'
const headers = { Authorization: \`Bearer \${process.env.KEY}\` }
const ask = async (path) => {
  const answer = await fetch(url + path, { headers })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.message)
  return body.data
}
const [buoy] = (await ask('/buoys/search?query=anglet&limit=1')).buoys
const { readings } = await ask(\`/buoys/\${buoy.slug}/readings?per_page=3\`)
for (const { time, significient_height } of readings) console.log(buoy.name, time, significient_height, 'm')
\`\`\`

With Python, without packages:

\`\`\`python
import json, os, urllib.request

url = "http://127.0.0.1:8080BASE"

def ask(path):
    request = urllib.request.Request(url + path, headers={"Authorization": "Bearer " + os.environ["KEY"]})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["data"]

buoy = ask("/buoys/search?query=anglet&limit=1")["buoys"][0]
for reading in ask("/buoys/" + buoy["slug"] + "/readings?per_page=3")["readings"]:
    print(buoy["name"], reading["time"], reading["significient_height"], "m")
\`\`\`

With R, by the package jsonlite:

\`\`\`r
url <- "http://127.0.0.1:8080BASE"
ask <- function(path) {
  answer <- url(paste0(url, path), headers = c(Authorization = paste("Bearer", Sys.getenv("KEY"))))
  on.exit(close(answer))
  jsonlite::fromJSON(readLines(answer, warn = FALSE))$data
}
buoy <- ask("/buoys/search?query=anglet&limit=1")$buoys[1, ]
readings <- ask(paste0("/buoys/", buoy$slug, "/readings?per_page=3"))$readings
print(data.frame(buoy = buoy$name, readings[c("time", "significient_height")]))
\`\`\`

A success is \`{"status": "success", "data": …, "meta": …}\`, and \`meta.timestamp\` is the time of the answer.

Parameters:

- Numbers are plain decimal text: no exponent, no blanks, and no point in integers. Booleans are \`true\`, \`false\`, \`1\` or \`0\`, in any case.
- Times are ISO 8601 with \`Z\` or an offset, with or without milliseconds. A time without a zone is an error. A date alone means that UTC day: its first second as a start, its last second as an end.
- Country codes are two capitals (\`FR\`); \`country=fr\` is an error.
- An empty value counts as absent. The API ignores parameters that it does not know. A parameter given twice is an error unless it is a list.
- A \`per_page\` above its maximum becomes the maximum, and \`meta.per_page\` says so. A \`limit\` outside its range is an error.

Units are fixed. Heights are in metres, periods in seconds, speeds in km/h, temperatures in °C, distances in km. Directions are in degrees
clockwise from north and say where waves or wind come from. Times are UTC in whole seconds; only buckets of series carry the offset of their
zone. A missing measurement is \`null\`: never 0, and its key is always there. Names and other texts come from the sources: escape them before
they become HTML.

Web pages of any origin may call the API from a browser.`,
  },
  {
    title: 'Pages of long lists',
    text: `\`GET /buoys\` and \`GET /buoys/{buoy_id}/readings\` come in pages: \`meta\` has \`page\`, \`per_page\` and \`total_pages\`, and \`data.count\` is the number of
items in all. The last page is the one where \`page\` equals \`total_pages\`; a page past it is an empty list. A large \`per_page\` saves calls.

**Pages that hold still.** A new snapshot may come between two pages, and then a list slips: items come twice or not at all. Send the
\`X-Snapshot-Id\` of the first page as \`snapshot\` with the others. Such an answer is from that snapshot, whatever has come since. Lists then say
so in \`meta.snapshot\`, and have a \`Link\` header with the addresses of the pages around (\`next\`, \`prev\`, \`first\`, \`last\`), so following \`next\` until
there is none reads a whole list. They have no key in them: send yours with each. The server holds a few snapshots; one that has left is a 410
\`snapshot_gone\`, and you begin anew.

\`\`\`sh
ID=$(curl -sD - -o /dev/null -H "Authorization: Bearer $KEY" "$URL/buoys?per_page=100" | tr -d '\\r' | sed -n 's/^X-Snapshot-Id: //Ip')
curl -i -H "Authorization: Bearer $KEY" "$URL/buoys?per_page=100&page=2&snapshot=$ID"
\`\`\``,
  },
  {
    title: 'Formats',
    text: `\`format=csv\`, \`ndjson\` or \`geojson\`, or the header \`Accept\`, gives an answer as a table or as features, where that makes sense;
readings of a buoy are \`parquet\`, too. The columns are the members of the JSON answer, nested ones with a dot. With \`page\` or \`per_page\` the answer is one page; without them it has
everything, for instance all readings of a buoy:

\`\`\`sh
curl -H "Authorization: Bearer $KEY" -OJ "$URL/buoys/anglet/readings?format=csv&start_date=2026-01-01"
\`\`\`

- CSV: names of the columns in the first line, with \`units=1\` their units in the second. Times are UTC, and a missing value is an empty field. A text that a spreadsheet would run as a formula begins with \`'\`.
- NDJSON: one item of the list a line, the same object as in JSON.
- GeoJSON: a feature for each item, with the item as its properties. A pass is the line through the virtual buoys it saw.
- Parquet: times as UTC timestamps, measures as 32-bit floats, nulls and statistics; units, credit and snapshot stand in the file's metadata.

\`fields=time,period\` picks columns. \`layout=columns\` turns a list of JSON into arrays by column. An answer that breaks off has
fewer bytes than its \`Content-Length\`, or as Parquet no last chunk, so that your program sees it: there is no line to look for.

A whole range of readings costs one call for each 10,000 rows, at least one, and is charged at the start. \`HEAD\` and a 304 cost one.`,
  },
  {
    title: 'Keys and quota',
    text: `Send the key in the header \`Authorization: Bearer KEY\`. A client that cannot set headers may use the parameter \`api_key=KEY\`, but addresses
end up in logs and history. The header counts where a request has both. The operator of the server issues keys. A key is shown once; nobody can look it
up later. The operator can replace a lost key, and the old one ends at once.

Without a key the answer is 401 \`API key required\`, with a wrong one 401 \`Invalid API key\`. \`GET /buoys/search\` and
\`GET /buoys/nearest\` need no key and ignore a wrong one. Calls without a key count for the address that they come from: it has 1,000 an hour,
unless the operator has set another number. Where the operator has opened the explorer, the pages of the server itself read all operations without a
key; other programs need one.

A key has a quota per clock hour in UTC: 1,000 calls unless agreed otherwise. Each call counts as one, whatever its answer,
304, 400, 404 and 422 included; only a whole range of readings in another format than JSON counts as more. Every answer to a valid key shows the state of its quota:

| Header | Meaning |
|---|---|
| \`X-RateLimit-Limit\` | calls an hour |
| \`X-RateLimit-Remaining\` | calls left in this hour |
| \`X-RateLimit-Reset\` | when the hour ends, Unix time in seconds |

When no call is left, the answer is 429. \`Retry-After\` and \`retry_after\` in the body are the seconds to wait; a retry after exactly that time
succeeds. Readings come about every 30 minutes, so asking more often gives the same ones again.`,
  },
  {
    title: 'Errors',
    text: `The status says what happened. \`error\` in the body says the same as a code, which never changes. \`message\` is for people and may change: it
names the parameter, what is wrong with it and what is allowed. \`details.parameter\` names the parameter for programs.

| Status | \`error\` | When |
|---|---|---|
| 400 | \`bad_request\` | a parameter is missing, malformed or outside its range |
| 401 | \`unauthorized\` | the key is missing or wrong |
| 404 | \`resource_not_found\` | the path, buoy, reading, mission or spot does not exist, or nothing is near enough |
| 405 | \`method_not_allowed\` | the method is not \`GET\`, \`HEAD\` or \`OPTIONS\`; \`Allow\` names them |
| 410 | \`snapshot_gone\` | \`snapshot\` names a snapshot that is not held any more; \`details.current\` is the one to begin anew with |
| 422 | \`validation_failed\` | the request is well-formed, but impossible; on operations where 400 is for \`snapshot\` and the parameters of formats alone also a missing or malformed parameter |
| 429 | \`rate_limit_exceeded\` | the quota of this hour is used up; \`Retry-After\` |
| 500 | \`internal_error\` | a fault of the server |
| 503 | \`service_unavailable\` | no data is loaded yet, or too many long answers are being made; \`Retry-After\` |

Every error has a \`request_id\`, also in the header \`X-Request-Id\`. Quote it when you ask for help. If your request has an \`X-Request-Id\` that is a
UUID, the answer uses that one. An empty list is a success. The server refuses headers and address of more than 16 KB together with 431.`,
  },
  {
    title: 'Caching',
    text: `Every success has an \`ETag\`. It depends on the data and the request, not on the key. Send it back in \`If-None-Match\`: as long as nothing has
changed, the answer is 304 without a body. Such a call counts, too. \`Cache-Control\` ends no later than the next data are expected; answers to a key are
\`private\`. \`X-Snapshot-Id\` names the snapshot of the data that an answer comes from. Answers with the same \`X-Snapshot-Id\` fit together.

\`HEAD\` gives the headers of \`GET\`. \`OPTIONS\` answers 204, needs no key and does not count. Answers may be compressed if the request has
\`Accept-Encoding\`.`,
  },
  {
    title: 'Satellites',
    text: `Altimeters on satellites measure the height of waves along their track. A **virtual buoy** is a fixed point of the sea. It gets its readings from
the passes over it. Lists, search and map have virtual buoys. The nearest buoys and the conditions do not: there only buoys in the water count.

\`GET /buoys/satellites\` lists the missions and \`GET /buoys/satellite_passes\` their passes. The parameter \`mission\` takes the \`slug\` of a mission.
By default the list has only fresh passes; \`active_only=false\` gives all passes of the snapshot. A pass may cross the antimeridian: then \`west\` is
greater than \`east\`.`,
  },
  {
    title: 'Data sources and credits',
    text: `\`source\` names the network of a buoy. \`tide_source\` in the conditions credits the constituents of a harbour. The owners of the data set their
licence. Show their credit where you show the data:

| Data | Credit | Licence |
|---|---|---|
| NDBC buoys | NOAA National Data Buoy Center (NDBC) and its partners | public domain (work of the United States government) |
| Candhis buoys | Candhis, Cerema and its partners | ask Cerema; statements about re-use differ |
| Satellite passes | Generated using E.U. Copernicus Marine Service Information | Copernicus Marine Service licence |
| Forecasts from Open-Meteo | Open-Meteo.com, with a link | CC BY 4.0 |
| Tides | the text of \`tide_source\` | as it says |

A server may have data of other sources; its operator knows their terms. The demo data that groundswell starts with are real places with
made-up readings: do not sail by them. Every answer that is made from them has the header \`X-Demo: true\`.`,
  },
]

/** The guides as one Markdown text. */
export function guidesText(basePath: string): string {
  const sections = GUIDES.map(({ title, text }) => `# ${title}\n\n${text}`)
  return [INTRODUCTION, ...sections].join('\n\n').replaceAll('8080BASE', `8080${basePath}`)
}
