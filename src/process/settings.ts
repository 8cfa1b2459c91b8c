/**
 * Every setting once: its option, default, meaning, and which values it takes. The command line, the
 * environment and `--help` read this table.
 */
import { availableParallelism } from 'node:os'
import { TrustedProxies } from '../access/trusted-proxies.ts'
import { DEFAULT_QUOTA } from '../access/keys.ts'
import { MAX_QUOTA } from '../access/keys-file.ts'
import { DEFAULT_ALLOWED_LOSS } from '../build/options.ts'
import { DEFAULT_KEPT, type Wanted } from '../build/kept.ts'
import { EXPLORER_CHOICES, type ExplorerChoice } from '../access/page-reads.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../snapshot/file-list.ts'
import { isAddress, parseAddress, type RedisAddress } from '../redis/address.ts'
import { endOf, parseTimestamp } from '../sea/time.ts'
import { ACCESS_LOG_SETTINGS, LOG_SETTINGS } from './log-settings.ts'
import {
  bytes,
  duration,
  durationOrZero,
  isOn,
  last,
  oneOf,
  plainLine,
  share,
  text,
  textOrNull,
  wholeNumber,
  type Parser,
} from './values.ts'

export interface Setting<T> {
  readonly placeholder: string
  readonly help: string
  /** Text of the default. Without one the setting may be left out. */
  readonly default?: string
  /** The default is this name in the data folder. */
  readonly under?: string
  readonly required?: boolean
  /** A switch takes no value. */
  readonly flag?: boolean
  /** May be given several times. In an environment variable, blanks separate the values. */
  readonly multiple?: boolean
  readonly parse: Parser<T>
}

// oxlint-disable-next-line typescript/no-explicit-any -- a bag of settings of any types
export type Settings = { readonly [option: string]: Setting<any> }
export type ConfigOf<S extends Settings> = Readonly<{
  [option in keyof S]: S[option] extends Setting<infer T> ? T : never
}>

/** A sentence with an address. */
const MOST_CONTACT_CHARACTERS = 300

const data: Setting<string | null> = {
  placeholder: 'DIR',
  help: 'data folder: where snapshots and keys lie unless their own options say otherwise (default: data in a clone or where it has them, else groundswell in XDG_DATA_HOME or ~/.local/share)',
  default: '',
  parse: textOrNull,
}

const snapshots: Setting<string> = {
  placeholder: 'DIR',
  help: 'folder that snapshots are published to and served from',
  under: 'snapshots',
  parse: text,
}

const keys: Setting<string> = {
  placeholder: 'FILE',
  help: 'file of API keys (hashes only), or redis://HOST:PORT/DB or rediss://… for keys that servers share',
  under: 'keys.json',
  parse: (texts) => {
    const value = text(texts)
    if (isAddress(value)) parseAddress(value)
    return value
  },
}

/** For every option that takes the address of a Redis. */
export const REDIS_SETTINGS = {
  'redis-password-file': {
    placeholder: 'FILE',
    help: 'file of the password for Redis, in place of one in its address',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
  'redis-ca': {
    placeholder: 'FILE',
    help: "authorities (PEM) that a rediss:// server's certificate may come from, instead of the public ones",
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
  'redis-cert': {
    placeholder: 'FILE',
    help: 'certificate and private key (PEM, one file) for a rediss:// server that requires them',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
} as const

export const SERVE_SETTINGS = {
  from: {
    placeholder: 'ADDRESS',
    help: 'what to mirror into the folder of snapshots: s3://BUCKET/PREFIX or http(s)://HOST/PATH/',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
  poll: {
    placeholder: 'TIME',
    help: 'time between two looks at what is mirrored',
    default: '5s',
    parse: duration,
  } satisfies Setting<number>,
  'mirror-disk': {
    placeholder: 'SIZE',
    help: 'what the files of a mirror may take; 0 for what the disk has',
    default: '0',
    parse: bytes,
  } satisfies Setting<number>,
  data,
  snapshots,
  port: {
    placeholder: 'PORT',
    help: 'TCP port, 0 for any free one',
    default: '8080',
    parse: wholeNumber(0, 65535),
  } satisfies Setting<number>,
  host: {
    placeholder: 'ADDRESS',
    help: 'address to listen on',
    default: '127.0.0.1',
    parse: text,
  } satisfies Setting<string>,
  workers: {
    placeholder: 'N',
    help: 'serving threads',
    default: String(Math.min(64, availableParallelism())),
    parse: wholeNumber(1, 64),
  } satisfies Setting<number>,
  'base-path': {
    placeholder: 'PATH',
    help: 'path that all operations begin with',
    default: '/v2',
    parse: (texts) => {
      if (!/^(\/[A-Za-z0-9._~-]+){1,8}$/.test(last(texts))) {
        throw new Error('a path such as /v2 or /api/v2, without a slash at its end')
      }
      return last(texts)
    },
  } satisfies Setting<string>,
  keys,
  'keys-copy': {
    placeholder: 'FILE',
    help: 'private file of the last good keys from Redis, for a start without it (default: keys-copy.json beside the folder of snapshots)',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
  ...REDIS_SETTINGS,
  'active-within': {
    placeholder: 'TIME',
    help: 'a buoy is active when its newest reading is no older than this at the time of the snapshot',
    default: '24h',
    parse: duration,
  } satisfies Setting<number>,
  'quota-store': {
    placeholder: 'ADDRESS',
    help: 'Redis or Valkey that replicas share quotas through, such as redis://host:6379/0; without it each server counts alone',
    default: '',
    parse: (texts) => (last(texts) === '' ? null : parseAddress(last(texts))),
  } satisfies Setting<RedisAddress | null>,
  'quota-fallback': {
    placeholder: 'WAY',
    help: 'while the quota store is away: share admits an equal share of each quota on each replica, closed nothing beyond what was leased',
    default: 'share',
    parse: oneOf(['share', 'closed']),
  } satisfies Setting<'share' | 'closed'>,
  'quota-replicas': {
    placeholder: 'N',
    help: 'replicas that share the quotas, for --quota-fallback share; more count once they are seen',
    default: '1',
    parse: wholeNumber(1, 1000),
  } satisfies Setting<number>,
  'anonymous-quota': {
    placeholder: 'N',
    help: 'requests per hour and address on the two public operations without a key, 0 for no limit',
    default: '1000',
    parse: wholeNumber(0, MAX_QUOTA),
  } satisfies Setting<number>,
  explorer: {
    placeholder: 'WAY',
    help: 'open lets the pages of this server read without a key, keyed does not; auto opens them for the demo, and on a loopback address for this machine',
    default: 'auto',
    parse: oneOf(EXPLORER_CHOICES),
  } satisfies Setting<ExplorerChoice>,
  'explorer-quota': {
    placeholder: 'N',
    help: 'reads per hour and address of the pages without a key, where the explorer is open',
    default: '5000',
    parse: wholeNumber(1, MAX_QUOTA),
  } satisfies Setting<number>,
  contact: {
    placeholder: 'TEXT',
    help: 'who issues keys, for visitors of the pages without one: an https:// or mailto: address, an e-mail address, or a text',
    default: '',
    parse: (texts) => (last(texts) === '' ? null : plainLine(MOST_CONTACT_CHARACTERS)(texts)),
  } satisfies Setting<string | null>,
  'trusted-proxy': {
    placeholder: 'CIDR',
    help: 'proxies whose X-Forwarded-For and Forwarded headers count; may be given several times',
    default: '',
    multiple: true,
    parse: (texts) => {
      const cidrs = texts.filter((cidr) => cidr !== '')
      try {
        void new TrustedProxies(cidrs)
      } catch (error) {
        throw new Error(`addresses or CIDRs such as 10.0.0.0/8: ${(error as Error).message}`, {
          cause: error,
        })
      }
      return cidrs
    },
  } satisfies Setting<string[]>,
  'answer-cache': {
    placeholder: 'SIZE',
    help: 'memory for answers kept per snapshot and worker, 0 to keep none',
    default: '64MiB',
    parse: bytes,
  } satisfies Setting<number>,
  'hold-snapshots': {
    placeholder: 'N',
    help: 'snapshots that stay in memory for pinned reads and changes, the current one included',
    default: '3',
    parse: wholeNumber(1, 100),
  } satisfies Setting<number>,
  'max-memory': {
    placeholder: 'SIZE',
    help: 'memory that snapshots, and what workers make of them, may take while one is loaded; 0 for what the machine has',
    default: '0',
    parse: bytes,
  } satisfies Setting<number>,
  'max-connections': {
    placeholder: 'N',
    help: 'connections at a time, in all workers; one more is answered 503 and closed',
    default: '10000',
    parse: wholeNumber(1, 1_000_000),
  } satisfies Setting<number>,
  'max-connections-per-address': {
    placeholder: 'N',
    help: 'connections at a time from one IPv4 address or one IPv6 /64, except loopback and trusted proxies; 0 for no limit',
    default: '256',
    parse: wholeNumber(0, 1_000_000),
  } satisfies Setting<number>,
  'max-listeners': {
    placeholder: 'N',
    help: 'streams of events at a time, in all workers, beside the connections; one more is answered 503',
    default: '10000',
    parse: wholeNumber(1, 1_000_000),
  } satisfies Setting<number>,
  'max-listeners-per-key': {
    placeholder: 'N',
    help: 'streams of events at a time with one key; one more is answered 429',
    default: '8',
    parse: wholeNumber(1, 65_535),
  } satisfies Setting<number>,
  'drain-time': {
    placeholder: 'TIME',
    help: 'how long a stopping server goes on answering, at most; twice the interval of the balancer’s checks and 0.5 s',
    default: '3s',
    parse: durationOrZero,
  } satisfies Setting<number>,
  'admin-port': {
    placeholder: 'PORT',
    help: 'port for health, status and reload; 0 for any free one, off for none; auto is 8081 where that is free',
    default: 'auto',
    parse: (texts) => {
      const wanted = last(texts)
      if (wanted === 'auto' || wanted === 'off') return wanted
      try {
        return wholeNumber(0, 65535)(texts)
      } catch (error) {
        throw new Error(`${(error as Error).message}, auto or off`, { cause: error })
      }
    },
  } satisfies Setting<number | 'auto' | 'off'>,
  'admin-host': {
    placeholder: 'ADDRESS',
    help: 'address the admin port listens on',
    default: '127.0.0.1',
    parse: text,
  } satisfies Setting<string>,
  'admin-name': {
    placeholder: 'NAME',
    help: 'host name that requests to the admin port may use, beside addresses and localhost; may be given several times',
    default: '',
    multiple: true,
    parse: (texts) => {
      const names = texts.filter((name) => name !== '').map((name) => name.toLowerCase())
      if (!names.every((name) => /^[a-z0-9_.-]{1,253}$/.test(name)))
        throw new Error('host names without a port')
      return names
    },
  } satisfies Setting<string[]>,
  'admin-token-file': {
    placeholder: 'FILE',
    help: 'file of a token that status and reload of the admin port require (Authorization: Bearer)',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
  engine: {
    placeholder: 'NAME',
    help: 'HTTP engine: uws, node, or auto for uws where it can be loaded',
    default: 'auto',
    parse: oneOf(['auto', 'uws', 'node']),
  } satisfies Setting<'auto' | 'uws' | 'node'>,
  ...LOG_SETTINGS,
  ...ACCESS_LOG_SETTINGS,
} as const

export type ServeConfig = ConfigOf<typeof SERVE_SETTINGS>

/** Of `serve` alone: who builds, too, serves what is built. */
export const SERVE_ALONE_SETTINGS = {
  ...SERVE_SETTINGS,
  'as-of': {
    placeholder: 'ID_OR_TIME',
    help: 'serve this kept snapshot and no later one: its id, or the last whose data are not newer than a time',
    default: '',
    parse: (texts) => {
      const wanted = last(texts)
      if (wanted === '') return null
      if (/^[0-9a-f]{24}$/.test(wanted)) return { id: wanted }
      const time = parseTimestamp(wanted)
      if (time === null)
        throw new Error('the id of a snapshot, or an ISO 8601 time such as 2026-03-27T09:00:00Z')
      return { time: Math.floor(endOf(time)) }
    },
  } satisfies Setting<Wanted | null>,
} as const
/** What the keys of a server need. */
export type KeysConfig = Pick<ServeConfig, 'keys' | 'keys-copy' | 'snapshots' | keyof typeof REDIS_SETTINGS>

const source: Setting<{ kind: string; argument: string }[]> = {
  placeholder: 'KIND:PATH',
  help: 'where rows come from; may be given several times, and beside --config',
  default: '',
  multiple: true,
  parse: (texts) =>
    texts.flatMap((entry) => {
      if (entry === '') return []
      const colon = entry.indexOf(':')
      return colon === -1
        ? { kind: entry, argument: '' }
        : { kind: entry.slice(0, colon), argument: entry.slice(colon + 1) }
    }),
}

const configuration: Setting<string | null> = {
  placeholder: 'FILE',
  help: 'configuration of sources, such as groundswell.config.json',
  default: '',
  parse: textOrNull,
}

/** Where a folder's snapshots go beside the folder. */
const PUBLISH_SETTINGS = {
  export: {
    placeholder: 'DIR_OR_URL',
    help: 'folder or bucket, s3://BUCKET/PREFIX, that each snapshot is exported to as Parquet files',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
  publish: {
    placeholder: 'URL',
    help: 'bucket to publish to as well, s3://BUCKET/PREFIX; it decides between several builders',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
  'single-writer': {
    placeholder: '',
    help: 'no other builder publishes there: goes without conditional writes, which some stores ignore',
    flag: true,
    parse: isOn,
  } satisfies Setting<boolean>,
} as const

export const BUILD_SETTINGS = {
  source,
  config: configuration,
  data,
  out: { ...snapshots, help: 'folder to publish the snapshot in' },
  'as-of': {
    placeholder: 'TIME',
    help: "the data's time: later rows are left out (default: the newest reading of the input; demo: the last half hour)",
    default: '',
    parse: (texts) => {
      if (last(texts) === '') return null
      const time = parseTimestamp(last(texts))
      if (time === null || time.epoch < 0 || time.epoch >= 2 ** 32) {
        throw new Error('an ISO 8601 time such as 2026-03-27T09:00:00Z')
      }
      return Math.floor(time.epoch)
    },
  } satisfies Setting<number | null>,
  'max-bad': {
    placeholder: 'SHARE',
    help: "share of a file's lines that may be malformed before the build stops",
    default: '10%',
    parse: share,
  } satisfies Setting<number>,
  'allow-loss': {
    placeholder: 'SHARE',
    help: 'share of what the folder has of any kind (buoys, readings, passes, forecast points, …) that a new snapshot may lose',
    default: `${DEFAULT_ALLOWED_LOSS * 100}%`,
    parse: share,
  } satisfies Setting<number>,
  'dry-run': {
    placeholder: '',
    help: 'show what would be fetched and built, and do neither',
    flag: true,
    parse: isOn,
  } satisfies Setting<boolean>,
  fresh: {
    placeholder: '',
    help: "start from the sources alone: only ids and slugs are taken over from the folder's snapshot",
    flag: true,
    parse: isOn,
  } satisfies Setting<boolean>,
  keep: {
    placeholder: 'N',
    help: 'snapshots to keep for rollback; the next build removes older ones, except pinned ones',
    default: String(DEFAULT_KEPT),
    parse: wholeNumber(1, 10000),
  } satisfies Setting<number>,
  ...LOG_SETTINGS,
  ...PUBLISH_SETTINGS,
} as const

export const RUN_SETTINGS = {
  ...SERVE_SETTINGS,
  source: { ...source, help: `${source.help} (demo where neither is given)` },
  config: configuration,
  'max-bad': BUILD_SETTINGS['max-bad'],
  'allow-loss': BUILD_SETTINGS['allow-loss'],
  keep: BUILD_SETTINGS.keep,
  every: {
    placeholder: 'TIME',
    help: 'time between builds, aligned to the clock; 0 to build only when there is no snapshot',
    default: '30m',
    parse: durationOrZero,
  } satisfies Setting<number>,
  jitter: {
    placeholder: 'TIME',
    help: 'the longest time by which a build begins late, chosen at random for each',
    default: '0',
    parse: durationOrZero,
  } satisfies Setting<number>,
  'build-timeout': {
    placeholder: 'TIME',
    help: 'how long a build may take before it is ended and counts as failed',
    default: '2h',
    parse: duration,
  } satisfies Setting<number>,
  ...PUBLISH_SETTINGS,
} as const

export const PUBLISH_COMMAND_SETTINGS = {
  'single-writer': PUBLISH_SETTINGS['single-writer'],
  keep: {
    ...BUILD_SETTINGS.keep,
    help: 'commits to keep in the bucket; older ones, and parts that none of the kept names, go after a day',
  },
} as const

const json: Setting<boolean> = {
  placeholder: '',
  help: 'print one line of JSON',
  flag: true,
  parse: isOn,
}

export const REPORT_SETTINGS = { json: { ...json, help: 'print the JSON document' } } as const

export const DIFF_SETTINGS = {
  json: { ...json, help: 'print what GET /changes answers, as one line of JSON' },
  'active-within': SERVE_SETTINGS['active-within'],
} as const

export const EXPORT_SETTINGS = {
  format: {
    placeholder: 'FORMAT',
    help: 'parquet or csv',
    default: 'parquet',
    parse: oneOf(EXPORT_FORMATS),
  } satisfies Setting<ExportFormat>,
  out: {
    placeholder: 'DIR_OR_URL',
    help: 'folder or bucket, s3://BUCKET/PREFIX, that the files go to; what it has of the same data stays',
    required: true,
    parse: text,
  } satisfies Setting<string>,
  since: {
    placeholder: 'ID',
    help: 'export only the months that changed after this kept snapshot (default: all months)',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
} as const

export const ROLLBACK_SETTINGS = {
  to: {
    placeholder: 'ID',
    help: 'the snapshot to publish; the one before the current without this option',
    default: '',
    parse: textOrNull,
  } satisfies Setting<string | null>,
} as const

export const KEYS_FILE_SETTINGS = { data, keys, ...REDIS_SETTINGS, json } as const

export const IMPORT_SETTINGS = {
  ...KEYS_FILE_SETTINGS,
  replace: {
    placeholder: '',
    help: 'take exactly the imported keys: others end, and those that differ are replaced',
    flag: true,
    parse: isOn,
  } satisfies Setting<boolean>,
} as const

export const ISSUE_SETTINGS = {
  data,
  keys,
  ...REDIS_SETTINGS,
  json,
  owner: {
    placeholder: 'NAME',
    help: 'the owner of the key; an owner has one',
    required: true,
    parse: text,
  } satisfies Setting<string>,
  quota: {
    placeholder: 'N',
    help: 'requests per clock hour',
    default: String(DEFAULT_QUOTA),
    parse: wholeNumber(1, MAX_QUOTA),
  } satisfies Setting<number>,
} as const

/** `doctor` looks at what `run` would do with the same options. */
export const DOCTOR_SETTINGS = {
  ...RUN_SETTINGS,
  json: { ...json, help: 'print the findings as JSON' },
} as const

export const HEALTH_SETTINGS = {
  'admin-port': SERVE_SETTINGS['admin-port'],
  'admin-host': SERVE_SETTINGS['admin-host'],
  live: {
    placeholder: '',
    help: 'ask whether the process lives, not whether it is ready',
    flag: true,
    parse: isOn,
  } satisfies Setting<boolean>,
} as const

export const INIT_SETTINGS = {
  config: {
    placeholder: 'FILE',
    help: 'the file to write',
    default: 'groundswell.config.json',
    parse: text,
  } satisfies Setting<string>,
} as const
