/** The mirror that `--from` asks for. */
import type { Mirror } from '../mirror/mirror.ts'
import type { ServeConfig } from '../process/settings/serve.ts'
import { UsageError } from '../process/usage-error.ts'
import { StoreError } from '../store/store.ts'
import { clock, environment, note, random } from './surroundings.ts'

/** A look at the source is repeated by the mirror itself, which then says that it fails. */
const STORE_ATTEMPTS = 2

/**
 * Null without `--from`. The client of stores is loaded only where it is needed.
 * @throws UsageError for an address that cannot be one, BuildError for a folder that cannot be a mirror
 */
export async function openMirror(
  config: Pick<ServeConfig, 'from' | 'poll' | 'snapshots' | 'mirror-disk'>,
): Promise<Mirror | null> {
  if (config.from === null) return null
  const { openReadable } = await import('../store/open.ts')
  const { Mirror } = await import('../mirror/mirror.ts')
  try {
    const source = openReadable(config.from, {
      environment,
      clock,
      random,
      warn: (message) => note(`warning: ${message}`),
      limits: { attempts: STORE_ATTEMPTS },
    })
    return new Mirror({
      source,
      dir: config.snapshots,
      poll: config.poll,
      maxBytes: config['mirror-disk'],
      clock,
      random,
      log: note,
    })
  } catch (error) {
    if (error instanceof StoreError) throw new UsageError(`--from: ${error.message}`, { cause: error })
    throw error
  }
}
