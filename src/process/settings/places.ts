/** Settings of where snapshots and keys lie: several commands share them. */
import { isAddress, parseAddress } from '../../redis/address.ts'
import { optional, type Setting } from './setting.ts'
import { text } from './values.ts'

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
  'redis-password-file': optional('FILE', 'file of the password for Redis, in place of one in its address'),
  'redis-ca': optional(
    'FILE',
    "authorities (PEM) that a rediss:// server's certificate may come from, instead of the public ones",
  ),
  'redis-cert': optional(
    'FILE',
    'certificate and private key (PEM, one file) for a rediss:// server that requires them',
  ),
} as const
