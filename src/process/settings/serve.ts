/** Settings of a server. */
import { availableParallelism } from 'node:os'
import { MAX_QUOTA } from '../../access/key-records.ts'
import { EXPLORER_CHOICES, type ExplorerChoice } from '../../access/anonymous-access.ts'
import { TrustedProxies } from '../../access/trusted-proxies.ts'
import { DRAWN_PICTURES } from '../../sea/missions.ts'
import { parseAddress, type RedisAddress } from '../../redis/address.ts'
import { ACCESS_LOG_SETTINGS, LOG_SETTINGS } from './logs.ts'
import { data, keys, REDIS_SETTINGS, snapshots } from './places.ts'
import { optional, type ConfigOf, type Setting } from './setting.ts'
import {
  address,
  bytes,
  duration,
  durationOrZero,
  last,
  LONGEST_WAIT_DAYS,
  oneOf,
  plainLine,
  wholeNumber,
} from './values.ts'

/** A petabyte: more is a mistyped unit. */
const MOST_GIB = 2 ** 20
/** So many of the smallest answers take more, so that a `Map` of 2^24 entries has room for those that fit. */
const MOST_CACHE_GIB = 4
/** A hundred years: every buoy that ever had a reading. */
const MOST_ACTIVE_DAYS = 36_500
const MOST_DRAIN_DAYS = 1
/** A sentence with an address. */
const MOST_CONTACT_CHARACTERS = 300

export const SERVE_SETTINGS = {
  from: optional(
    'ADDRESS',
    'what to mirror into the folder of snapshots: s3://BUCKET/PREFIX or http(s)://HOST/PATH/',
  ),
  poll: {
    placeholder: 'TIME',
    help: 'time between two looks at what is mirrored',
    default: '5s',
    parse: duration(LONGEST_WAIT_DAYS),
  } satisfies Setting<number>,
  'mirror-disk': {
    placeholder: 'SIZE',
    help: 'what the files of a mirror may take; 0 for what the disk has',
    default: '0',
    parse: bytes(MOST_GIB),
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
    parse: address,
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
  'keys-copy': optional(
    'FILE',
    'private file of the last good keys from Redis, for a start without it (default: keys-copy.json beside the folder of snapshots)',
  ),
  ...REDIS_SETTINGS,
  'active-within': {
    placeholder: 'TIME',
    help: 'a buoy is active when its newest reading is no older than this at the time of the snapshot',
    default: '24h',
    parse: duration(MOST_ACTIVE_DAYS),
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
  'mission-pictures': {
    placeholder: 'URL',
    help: 'where the pictures of satellite missions are, {slug} in place of the mission; this server draws them unless it is set',
    default: DRAWN_PICTURES,
    parse: (texts) => {
      // Of no characters that HTML or CSV could take for anything else.
      if (
        !/^(https?:\/\/|\/)[\w.~:/?#@!$&()*+,;=%{}-]{1,300}$/.test(last(texts)) ||
        !last(texts).includes('{slug}')
      ) {
        throw new Error(
          'an http(s):// address or a path from the root with {slug} in it, at most 300 characters',
        )
      }
      return last(texts)
    },
  } satisfies Setting<string>,
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
        throw new Error(`addresses or CIDRs such as 10.0.0.0/8, one each time: ${(error as Error).message}`, {
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
    parse: bytes(MOST_CACHE_GIB),
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
    parse: bytes(MOST_GIB),
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
    parse: durationOrZero(MOST_DRAIN_DAYS),
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
    parse: address,
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
  'admin-token-file': optional(
    'FILE',
    'file of a token that status and reload of the admin port require (Authorization: Bearer)',
  ),
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
