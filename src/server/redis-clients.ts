/** Connections to Redis as the settings name them. */
import { parseAddress, type RedisAddress } from '../access/redis/redis-address.ts'
import { RedisConnection } from '../access/redis/redis-connection.ts'
import type { TlsFiles } from '../access/redis/redis-link.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import type { REDIS_SETTINGS } from './serve-settings.ts'
import { type ConfigOf, UsageError } from './setting.ts'
import type { LogLine } from '../system/log.ts'

const MAX_PASSWORD_FILE_BYTES = 4096
/** A bundle of all public authorities has 250 kB. */
const MAX_PEM_BYTES = 4 * 1024 * 1024

export type RedisConfig = ConfigOf<typeof REDIS_SETTINGS>

export interface RedisSurroundings {
  readonly log: LogLine
  readonly clock: () => number
  readonly random?: () => number
}

/** Connects to an address that a setting has checked. @throws UsageError as `redisOf` */
export function openRedis(
  text: string,
  config: RedisConfig,
  { log, clock, random = () => 0.5 }: RedisSurroundings,
): RedisConnection {
  return new RedisConnection({ ...redisOf(parseAddress(text), config), log, clock, random })
}

/** An address with its password and certificates. @throws UsageError naming a bad file, never content */
export function redisOf(
  address: RedisAddress,
  config: RedisConfig,
): { address: RedisAddress; tls: TlsFiles } {
  const file = config['redis-password-file']
  const password = file === null ? address.password : readPassword(file)
  const tls = {
    authorities: readPem(config['redis-ca'], '--redis-ca', ['CERTIFICATE']),
    own: readPem(config['redis-cert'], '--redis-cert', ['CERTIFICATE', 'PRIVATE KEY']),
  }
  return { address: { ...address, password }, tls }
}

function readPassword(path: string): string {
  const password = readText(path, '--redis-password-file', MAX_PASSWORD_FILE_BYTES).replace(/\r?\n$/, '')
  if (password === '' || password.includes('\n')) {
    throw new UsageError(`${path} (--redis-password-file): holds no password: one line`)
  }
  return password
}

function readPem(path: string | null, option: string, parts: readonly string[]): string | null {
  if (path === null) return null
  const text = readText(path, option, MAX_PEM_BYTES)
  for (const part of parts) {
    if (!new RegExp(`-----BEGIN [A-Z ]*${part}-----`).test(text)) {
      throw new UsageError(`${path} (${option}): holds no ${part} in PEM`)
    }
  }
  return text
}

function readText(path: string, option: string, maxBytes: number): string {
  try {
    return readRegularFileSync(path, maxBytes).toString('utf8')
  } catch (error) {
    throw new UsageError(`${path} (${option}): cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
