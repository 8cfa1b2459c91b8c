/** Addresses of stores as operators write them. */
import { StoreError, type BucketAddress, type ReadableStore, type Store, type StoreContext } from './store.ts'
import { S3Store } from './s3.ts'
import { WebStore } from './web-store.ts'

export type StoreAddress =
  | BucketAddress
  /** `base` ends with a slash. */
  | { kind: 'web'; text: string; base: URL }

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
/** S3's keys have 1,024 bytes, and names below the prefix have to fit. */
const MAX_PREFIX_BYTES = 900
const EXPECTED = 's3://BUCKET/PREFIX or https://HOST/PATH/'

/** @throws StoreError that tells what is wrong */
export function parseAddress(text: string): StoreAddress {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1]
  if (scheme === 's3') return bucketAddress(text)
  if (scheme === 'http' || scheme === 'https') return webAddress(text)
  throw new StoreError(`${shown(text)}: is not the address of a store; expected ${EXPECTED}`)
}

/** The address of a store that is written to. @throws StoreError, also for a web server */
export function parseBucket(text: string): BucketAddress {
  const parsed = parseAddress(text)
  if (parsed.kind === 's3') return parsed
  throw new StoreError(
    `${parsed.base.href}: a web server can be read and not written to; expected s3://BUCKET/PREFIX`,
  )
}

function bucketAddress(text: string): BucketAddress {
  const rest = text.slice('s3://'.length)
  if (rest.includes('@')) throw withSecret('s3://')
  if (/[?#]/.test(rest)) {
    throw new StoreError(
      `${text.replace(/[?#].*$/s, '')}: has a "?" or "#"; endpoint and region come from AWS_ENDPOINT_URL_S3 and AWS_REGION`,
    )
  }
  const slash = rest.indexOf('/')
  const bucket = slash === -1 ? rest : rest.slice(0, slash)
  if (!BUCKET.test(bucket)) {
    throw new StoreError(
      `${shown(text)}: "${bucket}" is not the name of a bucket: 3 to 63 letters, digits, dots and hyphens; expected ${EXPECTED}`,
    )
  }
  const path = slash === -1 ? '' : rest.slice(slash + 1).replace(/\/$/, '')
  if (path !== '') expectSegments(text, path.split('/'))
  if (Buffer.byteLength(path) > MAX_PREFIX_BYTES) {
    throw new StoreError(`s3://${bucket}: its prefix has more than ${MAX_PREFIX_BYTES} bytes`)
  }
  return { kind: 's3', text: text.replace(/\/$/, ''), bucket, prefix: path === '' ? '' : `${path}/` }
}

function expectSegments(text: string, segments: readonly string[]): void {
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..' || /\p{Cc}/u.test(segment)) {
      throw new StoreError(
        `${shown(text)}: a prefix has neither empty parts nor "." and ".."; expected ${EXPECTED}`,
      )
    }
  }
}

function webAddress(text: string): StoreAddress {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) throw new StoreError(`${shown(text)}: is not a URL; expected ${EXPECTED}`)
  if (url.username !== '' || url.password !== '') throw withSecret(`${url.protocol}//`)
  if (url.search !== '' || url.hash !== '') {
    throw new StoreError(`${url.origin}${url.pathname}: has a "?" or "#"; name the folder of the snapshot`)
  }
  const folder = url.pathname.replace(/[^/]*\.msgpack$/, '')
  if (folder !== url.pathname) {
    throw new StoreError(`${url.href}: names a file; did you mean ${url.origin}${folder}?`)
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return { kind: 'web', text: url.href, base: url }
}

function withSecret(scheme: string): StoreError {
  return new StoreError(
    `${scheme}…@…: an address holds no user and no password, which others would see in the list of processes; ` +
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  )
}

/** An address in a message: without what may be a password, and cut. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/]*@/, '//…@').slice(0, 200))
}

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
