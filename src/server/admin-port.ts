/** Opens the admin port as the settings ask for it. */
import { isLoopback, readToken, startAdmin, type AdminOptions } from './admin.ts'
import { isElsewhere } from '../http/engines/port.ts'
import { LEVELS, type Level } from '../system/log.ts'
import type { ServeConfig } from './serve-settings.ts'

export type AdminPort = Awaited<ReturnType<typeof startAdmin>>

/** The port where `--admin-port` is `auto`. Another program may have it already. */
export const DEFAULT_ADMIN_PORT = 8081

/**
 * Resolves to null where no admin port is wanted, and where the default port is taken: that is only a warning.
 * @throws ListenError naming the address when a port that was asked for cannot be opened, or the address is
 * not this machine's; AdminTokenError.
 */
export async function openAdminPort(
  config: ServeConfig,
  log: (line: string) => void,
  options: Pick<AdminOptions, 'notReady' | 'status' | 'metrics' | 'reload' | 'logLevel' | 'onFault'>,
): Promise<AdminPort | null> {
  const wanted = config['admin-port']
  if (wanted === 'off') return null
  const host = config['admin-host']
  const token = config['admin-token-file'] === null ? null : readToken(config['admin-token-file'])
  if (token === null && !isLoopback(host)) {
    log(
      `warning: the admin port listens on ${host} without a token: whoever can reach it can see the status and ask for reloads; set one with --admin-token-file`,
    )
  }
  try {
    return await startAdmin({
      ...options,
      logLevel: options.logLevel === null ? null : announced(options.logLevel, log),
      host,
      names: config['admin-name'],
      token,
      port: wanted === 'auto' ? DEFAULT_ADMIN_PORT : wanted,
    })
  } catch (error) {
    if (wanted !== 'auto' || isElsewhere(error)) throw error
    log(`warning: no admin port: ${(error as Error).message}`)
    return null
  }
}

/** The level of the log; a change of it is in the log, with the level that shows it. */
function announced(logLevel: { level: Level }, log: (line: string) => void): { level: Level } {
  return {
    get level() {
      return logLevel.level
    },
    set level(level) {
      const before = logLevel.level
      const line = `warning: the log level is now ${level}, it was ${before}`
      const showsMore = LEVELS.indexOf(level) > LEVELS.indexOf(before)
      if (!showsMore) log(line)
      logLevel.level = level
      if (showsMore) log(line)
    },
  }
}
