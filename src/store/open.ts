/** Opens the store that an address names. */
import { parseAddress } from './address.ts'
import { S3Store } from './s3.ts'
import type { Store, StoreContext } from './store.ts'
import { WebStore } from './web.ts'

/**
 * Asks nothing yet: whether the store is there shows in the first call.
 * @param address `s3://bucket/prefix`, or `https://host/path/`, which can only be read
 * @throws StoreError for an address or variables of the environment that cannot be used
 */
export function openStore(address: string, context: StoreContext): Store {
  const parsed = parseAddress(address)
  return parsed.kind === 's3' ? new S3Store(parsed, context) : new WebStore(parsed.base, context)
}
