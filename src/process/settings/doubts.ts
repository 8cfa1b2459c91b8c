/**
 * Settings that are taken as they are and probably not meant: a server warns of them once when it starts, and
 * the doctor says what to do.
 */
import { holdingEverybody } from '../../access/trusted-proxies.ts'
import type { ServeConfig } from './serve.ts'

export interface Doubt {
  /** What the settings do, after the name of the option. */
  readonly found: string
  readonly advice: string
}

export function doubtsAbout(config: ServeConfig): Doubt[] {
  const doubts: Doubt[] = []
  const everybody = holdingEverybody(config['trusted-proxy'])
  if (everybody.length > 0) {
    doubts.push({
      found: `--trusted-proxy ${everybody.join(', ')} trusts everybody: whoever reaches this server chooses the address that counts for quotas and limits`,
      advice: 'name the addresses of the proxies alone, such as 10.0.0.0/8',
    })
  }
  if (config['admin-token-file'] !== null && config['admin-port'] === 'off') {
    doubts.push({
      found: '--admin-token-file does nothing while --admin-port is off',
      advice: 'give --admin-port a port, or leave the file out',
    })
  }
  return doubts
}
