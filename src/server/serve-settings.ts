/** Settings of a server; other commands share some of them. */
import { availableParallelism } from 'node:os'
import { MAX_QUOTA } from '../access/key-records.ts'
import type { AddressOptions } from '../http/port.ts'
import { holdingEverybody, TrustedProxies } from '../access/trusted-proxies.ts'
import { FORMATS, LEVELS } from '../system/log.ts'
import { checkKeysAddress, isAddress } from '../access/keys-object.ts'
import { parseRedisAddress } from '../access/redis.ts'
import { readLogo } from './logo.ts'
import type { MapStyle } from './static-files.ts'
import {
  address,
  bytes,
  duration,
  flag,
  last,
  LONGEST_WAIT_DAYS,
  oneOf,
  optional,
  orNull,
  plainLine,
  setting,
  several,
  text,
  wholeNumber,
  type ConfigOf,
  type Setting,
} from './setting.ts'

/** The options that a message about a taken port or a wrong host advises to change. */
export const API_ADDRESS: AddressOptions = { host: '--host', port: '--port' }

/** A petabyte: more is a mistyped unit. */
const MOST_GIB = 2 ** 20
/** A `Map` holds 2^24 entries. As many of the smallest answers take more than this, so all have room. */
const MOST_CACHE_GIB = 4
/** A hundred years: every buoy that ever had a reading. */
const MOST_ACTIVE_DAYS = 36_500
const MOST_DRAIN_DAYS = 1
/** A sentence with an address. */
const MOST_CONTACT_CHARACTERS = 300
/** Twice what fits into a page's header on a phone. */
const MOST_TITLE_CHARACTERS = 60

/** A site as browsers name it, which a policy can have. @throws Error saying what is allowed */
function origin(value: string): string {
  const isPlain = /^https?:\/\/[a-z0-9.-]{1,253}(:[0-9]{1,5})?$/.test(value)
  if (!isPlain || !URL.canParse(value) || new URL(value).origin !== value) {
    throw new Error('an origin such as https://buoys.example.org, without a path and without the usual port')
  }
  return value
}

const MOST_STYLE_CHARACTERS = 500
/** Nothing else may be in a policy, which `;` and `,` would end. */
const STYLE_ORIGIN = /^https:\/\/[a-z0-9.-]+(:[0-9]{1,5})?$/
const STYLE_PATH = /^\/(?!\/)[\w.~:/?@!$&()*+,;=%-]*$/

/** The first text is the style, each further one a server. @throws Error saying what is allowed */
export function parseMapStyle(texts: readonly string[]): MapStyle | null {
  const [address = '', ...servers] = texts.filter((text) => text !== '')
  if (address === '') return null
  const own = originOf(address)
  const isStyle = address.length <= MOST_STYLE_CHARACTERS && (own !== null || STYLE_PATH.test(address))
  if (!isStyle || servers.some((server) => originOf(server) !== server)) {
    throw new Error(
      `the style's https:// address or path from the root, at most ${MOST_STYLE_CHARACTERS} characters, then each further server that it names, such as https://tiles.example.org`,
    )
  }
  return { address, origins: [...new Set([...(own === null ? [] : [own]), ...servers])] }
}

function originOf(address: string): string | null {
  // A password would be shown to every visitor.
  const url = URL.canParse(address) ? new URL(address) : null
  return url !== null && url.username === '' && url.password === '' && STYLE_ORIGIN.test(url.origin)
    ? url.origin
    : null
}

export const data = optional(
  'DIR',
  'data folder: where snapshots and keys lie unless their own options say otherwise (default: data in a clone or where it has them, else groundswell in XDG_DATA_HOME or ~/.local/share)',
)

export const snapshots: Setting<string> = {
  placeholder: 'DIR',
  help: 'folder that snapshots are published to and served from',
  under: 'snapshots',
  parse: text,
}

export const keys: Setting<string> = {
  placeholder: 'FILE',
  help: 'file of API keys (hashes only), or s3://BUCKET/PREFIX/keys.json or https://HOST/PATH/keys.json for keys that servers share',
  under: 'keys.json',
  parse: (texts) => {
    const value = text(texts)
    if (isAddress(value)) checkKeysAddress(value)
    return value
  },
}

export const LOG_SETTINGS = {
  'log-format': setting(
    'FORMAT',
    'text, or json: every line on both outputs is one JSON object',
    'text',
    oneOf(FORMATS),
  ),
  'log-level': setting(
    'LEVEL',
    `the least serious lines to write: ${LEVELS.join(', ')}; error writes only errors, debug everything`,
    'info',
    oneOf(LEVELS),
  ),
} as const

export const SERVE_SETTINGS = {
  from: optional(
    'ADDRESS',
    'source to mirror into the folder of snapshots: s3://BUCKET/PREFIX or http(s)://HOST/PATH/',
  ),
  poll: setting('TIME', 'time between two looks at the mirrored source', '5s', duration(LONGEST_WAIT_DAYS)),
  data,
  snapshots,
  port: {
    ...setting('PORT', 'TCP port, 0 for any free one', '8080', wholeNumber(0, 65535)),
    variable: 'PORT',
  },
  host: { ...setting('ADDRESS', 'address to listen on', '127.0.0.1', address), variable: 'HOST' },
  workers: setting('N', 'serving threads', String(Math.min(64, availableParallelism())), wholeNumber(1, 64)),
  'base-path': setting('PATH', 'path that all operations begin with', '/v2', (texts) => {
    if (!/^(\/[A-Za-z0-9._~-]+){1,8}$/.test(last(texts))) {
      throw new Error('a path such as /v2 or /api/v2, without a slash at its end')
    }
    if (/^\/(?:edr|mcp)(?:\/|$)/.test(last(texts))) throw new Error('a path that is not below /edr or /mcp')
    return last(texts)
  }),
  keys,
  'active-within': setting(
    'TIME',
    'a buoy is active when its newest reading is no older than this at the time of the snapshot',
    '24h',
    duration(MOST_ACTIVE_DAYS),
  ),
  'quota-store': setting(
    'ADDRESS',
    'Redis or Valkey that replicas share quotas through, such as redis://host:6379/0; without it each server counts alone',
    '',
    orNull((texts) => parseRedisAddress(last(texts))),
  ),
  'quota-store-required': flag(
    'answer requests with a key 503 while the quota store is away; without it each server goes on with its own counts',
  ),
  'anonymous-quota': setting(
    'N',
    'requests per hour and address on public operations without a key, 0 for no limit',
    '1000',
    wholeNumber(0, MAX_QUOTA),
  ),
  explorer: setting(
    'WAY',
    'open lets the pages of this server read without a key, keyed does not; auto opens them for the demo, and on a loopback address for this machine',
    'auto',
    oneOf(['auto', 'open', 'keyed']),
  ),
  'explorer-quota': setting(
    'N',
    'reads per hour and address of the pages without a key, where the explorer is open',
    '5000',
    wholeNumber(1, MAX_QUOTA),
  ),
  contact: setting(
    'TEXT',
    'who issues keys, for visitors of the pages without one: an https:// or mailto: address, an e-mail address, or a text',
    '',
    orNull((texts) => {
      const line = plainLine(MOST_CONTACT_CHARACTERS)(texts)
      if (/^[a-z][a-z0-9+.-]*:\S/i.test(line) && !/^(https?:\/\/|mailto:)\S+$/i.test(line)) {
        throw new Error('an https:// or mailto: address, an e-mail address, or a text')
      }
      return line
    }),
  ),
  title: setting(
    'TEXT',
    'name of the pages in place of groundswell, such as that of a harbour',
    '',
    orNull(plainLine(MOST_TITLE_CHARACTERS)),
  ),
  logo: setting(
    'FILE',
    "picture beside the name of the pages: a PNG, or an SVG without scripts and outside references, of at most 256 KiB; read at the server's start",
    '',
    orNull((texts) => readLogo(last(texts))),
  ),
  accent: setting(
    'COLOUR',
    'colour of links and buttons, such as #0a6a8f: darker in light colours and lighter in dark ones where it would not be read',
    '',
    orNull((texts) => {
      if (!/^#[0-9a-f]{6}$/i.test(last(texts))) throw new Error('a colour such as #0a6a8f')
      return last(texts).toLowerCase()
    }),
  ),
  'map-style': {
    placeholder: 'URL',
    help: "MapLibre style in place of the explorer's own basemap, an https:// address or a path; given again, each names a further server that the style needs, such as https://tiles.example.org",
    default: '',
    multiple: true,
    parse: parseMapStyle,
  },
  'public-url': setting(
    'URL',
    'origin that visitors know this server by, such as https://buoys.example.org: the pages then give it to sites that show a preview of a link',
    '',
    orNull((texts) => origin(last(texts))),
  ),
  edr: setting('WAY', 'OGC API - EDR below /edr: on or off', 'on', oneOf(['on', 'off'])),
  mcp: setting('WAY', 'tools of assistants at /mcp: on or off', 'on', oneOf(['on', 'off'])),
  'mcp-origin': several(
    'ORIGIN',
    'site with pages that may send messages to /mcp, such as https://chat.example.org; those of this machine and of --public-url always may',
    (origins) => origins.map(origin),
  ),
  'embed-from': several(
    'ORIGIN',
    'site with pages that may show /embed/SLUG in a frame, such as https://blog.example.org, or * for all; by default only pages of this server',
    (origins) => (origins.includes('*') ? ['*'] : origins.map(origin)),
  ),
  'trusted-proxy': several('CIDR', 'proxies with trusted X-Forwarded-For and Forwarded headers', (cidrs) => {
    try {
      void new TrustedProxies(cidrs)
    } catch (error) {
      throw new Error(`addresses or CIDRs such as 10.0.0.0/8, one each time: ${(error as Error).message}`, {
        cause: error,
      })
    }
    return cidrs
  }),
  'answer-cache': setting(
    'SIZE',
    'memory for answers kept per snapshot and worker, 0 to keep none',
    '64MiB',
    bytes(MOST_CACHE_GIB),
  ),
  'hold-snapshots': setting(
    'N',
    'snapshots that stay in memory for pinned reads and changes, the current one included',
    '3',
    wholeNumber(1, 100),
  ),
  'max-memory': setting(
    'SIZE',
    'memory that snapshots, and what workers make of them, may take while one is loaded; 0 for what the machine has',
    '0',
    bytes(MOST_GIB),
  ),
  'max-connections': setting(
    'N',
    'connections at a time, in all workers; one more is answered 503 and closed',
    '10000',
    wholeNumber(1, 1_000_000),
  ),
  'max-listeners': setting(
    'N',
    'streams of events at a time, in all workers, not counted as connections; one more is answered 503',
    '10000',
    wholeNumber(1, 1_000_000),
  ),
  'max-listeners-per-key': setting(
    'N',
    'streams of events at a time with one key; one more is answered 429',
    '8',
    wholeNumber(1, 65_535),
  ),
  'drain-time': setting(
    'TIME',
    'longest time that a stopping server goes on answering: at least twice the interval of the balancer’s checks and 0.5 s',
    '3s',
    duration(MOST_DRAIN_DAYS, true),
  ),
  'admin-port': setting(
    'PORT',
    'port for health, status and reload; 0 for any free one, off for none; auto is 8081 where that is free',
    'auto',
    (texts) => {
      const wanted = last(texts)
      if (wanted === 'auto' || wanted === 'off') return wanted
      try {
        return wholeNumber(0, 65535)(texts)
      } catch (error) {
        throw new Error(`${(error as Error).message}, auto or off`, { cause: error })
      }
    },
  ),
  'admin-host': setting('ADDRESS', 'address the admin port listens on', '127.0.0.1', address),
  'admin-name': several(
    'NAME',
    'host name that requests to the admin port may use, in addition to addresses and localhost',
    (names) => {
      const lower = names.map((name) => name.toLowerCase())
      if (lower.every((name) => /^[a-z0-9_.-]{1,253}$/.test(name))) return lower
      throw new Error('host names without a port')
    },
  ),
  'admin-token-file': optional(
    'FILE',
    'file of a token that status and reload of the admin port require (Authorization: Bearer)',
  ),
  engine: setting(
    'NAME',
    'HTTP engine: uws, node, or auto for uws where it can be loaded',
    'auto',
    oneOf(['auto', 'uws', 'node']),
  ),
  ...LOG_SETTINGS,
  'access-log': setting(
    'WHICH',
    'requests to write a line about: none, errors (also those that take 100 ms or more), all',
    'none',
    oneOf(['none', 'errors', 'all']),
  ),
} as const

export type ServeConfig = ConfigOf<typeof SERVE_SETTINGS>

/** Settings that are valid and probably not meant, for a server's start and the doctor. */
export function settingsWarnings(config: ServeConfig): { found: string; advice: string }[] {
  const everybody = holdingEverybody(config['trusted-proxy'])
  const isSecure = config['public-url']?.startsWith('https:') === true || config['trusted-proxy'].length > 0
  const isUnseen = config.explorer === 'open' && !isLoopback(config.host) && !isSecure
  const isTokenIdle = config['admin-token-file'] !== null && config['admin-port'] === 'off'
  return [
    everybody.length > 0 && {
      found: `--trusted-proxy ${everybody.join(', ')} trusts everybody: whoever reaches this server chooses the address that counts for quotas and limits`,
      advice: 'name the addresses of the proxies alone, such as 10.0.0.0/8',
    },
    isUnseen && {
      found: `--explorer open on ${config.host} has effect only for browsers that come by https, or by the name localhost: others send nothing that tells a page of this server from another program, and are asked for a key`,
      advice: 'put a proxy with TLS in front (--public-url names its address), or issue keys to visitors',
    },
    isTokenIdle && {
      found: '--admin-token-file does nothing while --admin-port is off',
      advice: 'give --admin-port a port, or leave the file out',
    },
  ].filter((warning) => warning !== false)
}

/** Whether a port that listens on `host` can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
