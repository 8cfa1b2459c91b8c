/** `health`: asks the admin port of a server on this machine, for the health check of a container. */
import { DEFAULT_ADMIN_PORT } from '../server/admin.ts'
import { SERVE_SETTINGS } from '../server/serve-settings.ts'
import { flag, type ConfigOf, UsageError } from '../server/setting.ts'
import { BuildError } from '../system/build-error.ts'
import { inUrl } from '../system/text.ts'
import { command } from './command.ts'
import { print } from './surroundings.ts'

/** Above any honest answer, below what supervisors wait. */
const PATIENCE_MS = 4000

const HEALTH_SETTINGS = {
  'admin-port': SERVE_SETTINGS['admin-port'],
  'admin-host': SERVE_SETTINGS['admin-host'],
  live: flag('ask whether the process lives, not whether it is ready'),
} as const

const health = command({
  settings: HEALTH_SETTINGS,
  run: async (config) => {
    print(await answerOf(config))
  },
})
export const COMMANDS = { health }

/** The server's answer about itself. @throws BuildError when it is not good */
async function answerOf({
  live,
  'admin-port': port,
  'admin-host': host,
}: ConfigOf<typeof HEALTH_SETTINGS>): Promise<string> {
  if (port === 'off' || port === 0) {
    throw new UsageError(`--admin-port: expected the port that the server was given, not ${port}`)
  }
  const url = `http://${reachable(host)}:${port === 'auto' ? DEFAULT_ADMIN_PORT : port}/${live ? 'livez' : 'readyz'}`
  let reply: { status: string; reason?: string }
  let isGood: boolean
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'error' })
    isGood = response.ok
    reply = (await response.json()) as typeof reply
  } catch (error) {
    const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
    const why = name === 'TimeoutError' ? `nothing within ${PATIENCE_MS / 1000} s` : (cause?.code ?? name)
    throw new BuildError(
      `${url} does not answer as groundswell (${why}): check that it runs, and its --admin-port`,
    )
  }
  if (!isGood) throw new BuildError(`${reply.status}: ${reply.reason ?? 'no reason is given'}`)
  return reply.status
}

/** An address of this machine where the server listens on all of them. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return inUrl(host === '::' ? '::1' : host)
}
