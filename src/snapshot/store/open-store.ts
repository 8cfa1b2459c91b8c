/** Opens the store that an address names. Nothing is asked yet: the first call shows whether it is there. */
import { parseAddress, parseBucket } from './store-address.ts'
import { S3Store } from './s3.ts'
import type { ReadableStore, Store, StoreContext } from './store.ts'
import { WebStore } from './web-store.ts'

/** @param address `s3://bucket/prefix` @throws StoreError for a bad address, or bad variables */
export function openStore(address: string, context: StoreContext): Store {
  return new S3Store(parseBucket(address), context)
}

/**
 * @param address `s3://bucket/prefix`, or `https://host/path/`
 * @throws StoreError for an address or variables of the environment that cannot be used
 */
export function openReadable(address: string, context: StoreContext): ReadableStore {
  const parsed = parseAddress(address)
  return parsed.kind === 's3' ? new S3Store(parsed, context) : new WebStore(parsed.base, context)
}
