/**
 * The words of the grammar: values, names, methods and headers that are right, nearly right, and far off.
 * They stand as on the wire.
 */

const words = (text: string): string[] => text.trim().split(/\s+/)
const lines = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trimStart())

/** What parameters of a type take, for the most part. */
export const PLAIN_VALUES: { readonly [type: string]: readonly string[] } = {
  boolean: words('true false 1 0'),
  integer: words('1 2 3 10 20 50 100'),
  number: words('0 1.5 43.4 -1.7 89.9 150'),
  string: words('an bu FR NDBC 2026-10-30 2026-10-30T06:00:00Z 12:00 sentinel-6'),
}

export const ODD_VALUES: readonly string[] = [
  '',
  ...words('0 -0 -1 +1 00 1.0 1e2 0x10 1_000 %31 2147483647 2147483648 9007199254740991 9007199254740993'),
  ...words('NaN Infinity -Infinity null undefined true True FALSE yes [object+Object]'),
  ...words('% %2 %zz %00 %0a %0d%0aX:+1 %ff %c0%80 %ed%a0%80 %f0%9f%8c%8a %ef%bb%bf1 %d9%a1 %ef%bc%91'),
  ...words("+ %20 %09 ++1 %201 1%20 %3Cscript%3E '%20OR%201=1-- ../../etc/passwd ..%2f..%2f %2e%2e {{7*7}}"),
  ...words('__proto__ constructor toString hasOwnProperty length %5B%5D %7B%7D , ,,, 1, ,1 $%7Bx%7D'),
  ...words('%7B%22north%22%3A1e999%7D %7B%22__proto__%22%3A1%7D %7B%22north%22%3A1%2C%22south%22%3A2%7D'),
  ...words('1970-01-01 0000-00-00 9999-12-31 2026-02-30 2024-02-29 -000001-01-01 24:00 23:59 12:60'),
  ...words('2026-13-01T00:00:00Z 2026-10-31T24:00:00Z 2026-10-31T00:00:00%2B99:99 2016-12-31T23:59:60Z'),
  ...words('1792368000 -62135596801 253402300800 4294967296'),
  ...words('43.4,-1.7 43.4 43.4, 91,0 0,181 -90,-180 nan,nan 43.4,-1.7,5 1e309,0'),
  ...words('Europe/Paris Etc/GMT%2B12 europe/paris Mars/Phobos FR fr ZZ en xx-YY NDBC Candhis'),
  ...words('1,2,3 1,1,1 a,b'),
  '9'.repeat(400),
  `-${'9'.repeat(40)}`,
  `0.${'1'.repeat(300)}`,
  `2026-10-31T00:00:00.${'9'.repeat(400)}`,
  'a'.repeat(3000),
  '%41'.repeat(900),
  '%5B'.repeat(500),
  '%7B%22north%22:'.repeat(200),
  Array.from({ length: 400 }, (_, i) => i).join(','),
]

/** In the place of a buoy or a reading. */
export const ODD_WORDS: readonly string[] = [
  '',
  ...words('%2F %2e .. . %00 %25 % ;a=b * ~ - _ ma%70 MAP nearest search readings series last_readings map'),
  ...words('-1 1.5 1e3 007 %f0%9f%8c%8a <script> %3Cscript%3E readings%2Fseries __proto__ constructor %ff'),
  'a'.repeat(2000),
]

/** Beside the parameters. */
export const ODD_PAIRS: readonly string[] = words('&&& ? = == a;b page &page=1 %3d=%26')

export const METHODS: readonly string[] = words('POST PUT DELETE PATCH TRACE PROPFIND get GETT')
/** Those that node:http refuses itself. */
export const UNKNOWN_METHODS: ReadonlySet<string> = new Set(['get', 'GETT'])

/** `KEY` is a good one. */
export const ODD_KEYS: readonly string[] = [
  ...lines(`
    Authorization: Bearer
    Authorization: Basic YTpi
    Authorization: KEY
    authorization: bearer x
    AUTHORIZATION: BEARER KEY
    Authorization: Bearer KEYx
    Authorization:   Bearer   KEY   
    Authorization: Bearer KEY KEY
    Authorization: Bearer, KEY`),
  'Authorization: Bearer ',
  'Authorization: Bearer KEY\r\nAuthorization: Bearer x',
  'Authorization: Bearer x\r\nAuthorization: Bearer KEY',
  'Authorization: \xff\xfe',
  `Authorization: Bearer ${'k'.repeat(500)}`,
  `Authorization: Bearer ${'k'.repeat(9000)}`,
]

export const ODD_HEADERS: readonly string[] = [
  ...lines(`
    Accept: */*
    Accept: text/html
    Accept: application/json;q=0
    Accept-Encoding: gzip
    Accept-Encoding: br
    Accept-Encoding: zstd
    Accept-Encoding: *;q=0
    Accept-Encoding: gzip;q=0.0001
    Accept-Encoding: gzip;q=x, br;q=
    Accept-Language: fr
    Accept-Language: fr;q=nonsense
    Accept-Language: *
    Accept-Language: ;;;,,,
    If-None-Match: *
    If-None-Match: "
    If-None-Match: W/"a", W/"b"
    If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT
    Range: bytes=0-1
    Range: bytes=-1
    X-Request-Id: 6f9619ff-8b86-4d01-b42d-00cf4fc964ff
    X-Request-Id: no
    X-Forwarded-For: 192.0.2.1
    X-Forwarded-For: a, b, c
    X-Forwarded-For: ,,,,
    Forwarded: for="[::1]"
    Cookie: a=b
    Origin: null
    Origin: https://example.org
    Referer: x
    User-Agent:
    TE: trailers
    X-HTTP-Method-Override: DELETE
    Access-Control-Request-Method: GET
    Content-Type: application/json`),
  'X-Request-Id: 6f9619ff\t',
  `Accept: ${'a/b,'.repeat(400)}`,
  `Accept-Encoding: ${'gzip,'.repeat(500)}`,
  `If-None-Match: ${'"a",'.repeat(900)}`,
]
