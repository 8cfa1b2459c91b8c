/** Addresses of stores as operators write them, and what they may have meant. */
import { StoreError } from './store.ts'

export interface BucketAddress {
  kind: 's3'
  text: string
  bucket: string
  /** Empty, or ends with a slash. */
  prefix: string
}

export type StoreAddress =
  | BucketAddress
  /** `base` ends with a slash. */
  | { kind: 'web'; text: string; base: URL }

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
/** Longest prefix: the names below it have to fit into S3's 1,024 bytes of a key. */
const MAX_PREFIX_BYTES = 900
const EXPECTED = 's3://BUCKET/PREFIX or https://HOST/PATH/'
/** Hosts of AWS, bucket first or in the path. */
const AWS_HOST = /^(?:([a-z0-9.-]+)\.)?s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?$/

/** @throws StoreError that says what is wrong, and what was probably meant */
export function parseAddress(text: string): StoreAddress {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1]
  if (scheme === 's3') return bucketAddress(text)
  if (scheme === 'http' || scheme === 'https') return webAddress(text)
  throw new StoreError(`${shown(text)}: is not the address of a store${meant(text)}; expected ${EXPECTED}`)
}

/** The address of a store that is written to. @throws StoreError, also for a web server */
export function parseBucket(text: string): BucketAddress {
  const parsed = parseAddress(text)
  if (parsed.kind === 's3') return parsed
  const bucket = asBucket(parsed.base)
  throw new StoreError(
    `${parsed.base.href}: a web server can be read and not written to${bucket === null ? '; expected s3://BUCKET/PREFIX' : did(bucket)}`,
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
      `${shown(text)}: "${bucket}" is not the name of a bucket: 3 to 63 letters, digits, dots and hyphens${meant(text)}`,
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

/** The bucket that a web address of AWS names, as an `s3:` address; null for other hosts. */
function asBucket(base: URL): string | null {
  const match = AWS_HOST.exec(base.hostname)
  if (match === null) return null
  const path = match[1] === undefined ? base.pathname.slice(1) : `${match[1]}${base.pathname}`
  return path === '' || path === '/' ? null : `s3://${path.replace(/\/$/, '')}`
}

function withSecret(scheme: string): StoreError {
  return new StoreError(
    `${scheme}…@…: an address holds no user and no password, which others would see in the list of processes; ` +
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  )
}

/** What an address that cannot be used was probably meant to be. */
function meant(text: string): string {
  const [, scheme, rest] = /^([A-Za-z0-9+.-]*):?\/{0,3}(.*)$/s.exec(text) ?? ['', '', '']
  const word = scheme.toLowerCase()
  const path = rest.replace(/^\/+/, '')
  if (['s3', 's3a', 's3n'].includes(word) && path !== '') return did(`s3://${lowered(path)}`)
  if (['gs', 'gcs'].includes(word)) {
    return did(`s3://${path}" with AWS_ENDPOINT_URL_S3="https://storage.googleapis.com`)
  }
  if (['htp', 'htttp', 'http', 'ttp'].includes(word) && path !== '') return did(`http://${path}`)
  if (['htps', 'htttps', 'https', 'ttps', 'httsp', 'htpps'].includes(word) && path !== '') {
    return did(`https://${path}`)
  }
  if (/^[a-z0-9][a-z0-9-]+(\/[\w./-]*)?$/.test(text)) return did(`s3://${text.replace(/\/$/, '')}`)
  if (/^[a-z0-9.-]+\.[a-z]{2,}(:\d+)?\//.test(text)) return did(`https://${text}`)
  return ''
}

/** Buckets have names in lower case; what follows keeps its case. */
function lowered(path: string): string {
  const slash = path.indexOf('/')
  const bucket = slash === -1 ? path : path.slice(0, slash)
  return `${bucket.toLowerCase()}${slash === -1 ? '' : path.slice(slash)}`
}

const did = (address: string): string => (address.includes('@') ? '' : `, did you mean "${address}"?`)

/** An address in a message: without what may be a password, and cut. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/]*@/, '//…@').slice(0, 200))
}
