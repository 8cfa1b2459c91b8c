/** Addresses of stores as operators write them. */
import { StoreError, type BucketAddress, type ReadableStore, type Store, type StoreContext } from './store.ts'
import { S3Store } from './s3.ts'
import { WebStore } from './web-store.ts'

type StoreAddress =
  | BucketAddress
  /** `base` ends with a slash. */
  | { kind: 'web'; text: string; base: URL }

/** A bucket's name, and the parts of a prefix: none is empty, "." or "..". */
const BUCKET =
  /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])((?:\/(?!\.\.?(?:\/|$))[^/\p{Cc}]+)*)\/?$/u
/** S3's keys have 1,024 bytes, and names below the prefix have to fit. */
const MAX_PREFIX_BYTES = 900

/** @throws StoreError with the fault */
export function parseAddress(text: string): StoreAddress {
  if (/^s3:.*@|^\w+:\/\/[^/]*@/s.test(text)) {
    throw new StoreError(
      '…@…: an address holds no user and no password, which others would see in the list of processes; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    )
  }
  const bare = text.replace(/[?#].*$/s, '').slice(0, 200)
  if (bare.length < Math.min(text.length, 200)) {
    throw new StoreError(
      `${bare}: has a "?" or "#"; endpoint and region come from AWS_ENDPOINT_URL_S3 and AWS_REGION`,
    )
  }
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) {
    const base = new URL(text)
    const folder = base.pathname.replace(/[^/]*\.msgpack$/, '')
    if (folder !== base.pathname) {
      throw new StoreError(`${base.href}: names a file; did you mean ${base.origin}${folder}?`)
    }
    if (!base.pathname.endsWith('/')) base.pathname += '/'
    return { kind: 'web', text: base.href, base }
  }
  const [, bucket, path = ''] = BUCKET.exec(text) ?? []
  if (bucket !== undefined && Buffer.byteLength(path) <= MAX_PREFIX_BYTES) {
    return {
      kind: 's3',
      text: `s3://${bucket}${path}`,
      bucket,
      prefix: path === '' ? '' : `${path.slice(1)}/`,
    }
  }
  throw new StoreError(
    `${JSON.stringify(bare)}: is not the address of a store; expected s3://BUCKET/PREFIX or https://HOST/PATH/, with a bucket of 3 to 63 letters, digits, dots and hyphens, and a prefix of at most ${MAX_PREFIX_BYTES} bytes without empty parts, "." and ".."`,
  )
}

/** @param address `s3://bucket/prefix` @throws StoreError for a bad address, or bad variables */
export function openStore(address: string, context: StoreContext): Store {
  const parsed = parseAddress(address)
  if (parsed.kind === 's3') return new S3Store(parsed, context)
  throw new StoreError(
    `${parsed.text}: a web server can be read and not written to; expected s3://BUCKET/PREFIX`,
  )
}

/**
 * @param address `s3://bucket/prefix`, or `https://host/path/`
 * @throws StoreError for an address or variables of the environment that cannot be used
 */
export function openReadable(address: string, context: StoreContext): ReadableStore {
  const parsed = parseAddress(address)
  return parsed.kind === 's3' ? new S3Store(parsed, context) : new WebStore(parsed.base, context)
}
