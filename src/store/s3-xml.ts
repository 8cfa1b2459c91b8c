/** The XML that S3 answers: listings and faults. */
import { SaxesParser } from 'saxes'
import type { StoredObject } from './store.ts'

/** What S3 says of a fault; empty texts where it does not. */
export interface S3Fault {
  code: string
  region: string
}

/** One page of a listing. */
export interface ListPage {
  objects: StoredObject[]
  /** Asks for the next page; null at the last one. */
  next: string | null
}

/** Codes are words of letters; anything else is not repeated. */
const CODE = /^[A-Za-z0-9.]{1,64}$/
const REGION = /^[a-z0-9-]{1,32}$/

/** Reads the fault of an answer, as far as it can be understood; never throws. */
export function readFault(xml: string): S3Fault {
  const texts = new Map<string, string>()
  readXml(xml, (path, text) => {
    if (/^Error\/(Code|Region)$/.test(path)) texts.set(path.slice('Error/'.length), text)
  })
  const code = texts.get('Code') ?? ''
  const region = texts.get('Region') ?? ''
  return { code: CODE.test(code) ? code : '', region: REGION.test(region) ? region : '' }
}

/** A page of ListObjectsV2; null for something else. */
export function readListing(xml: string): ListPage | null {
  const objects: StoredObject[] = []
  let isListing = false
  let isEncoded = false
  let isTruncated = false
  let next: string | null = null
  let entry: { [name: string]: string } = {}
  const isWhole = readXml(xml, (path, text) => {
    const [root, ...rest] = path.split('/')
    if (root !== 'ListBucketResult') return
    isListing = true
    const name = rest.join('/')
    if (name === 'IsTruncated') isTruncated = text === 'true'
    else if (name === 'NextContinuationToken') next = text
    else if (name === 'EncodingType') isEncoded = text === 'url'
    else if (name.startsWith('Contents/')) entry[name.slice('Contents/'.length)] = text
    else if (name === 'Contents') {
      objects.push({
        name: entry.Key ?? '',
        bytes: Number(entry.Size ?? NaN),
        modified: Date.parse(entry.LastModified ?? '') / 1000,
      })
      entry = {}
    }
  })
  if (!isWhole || !isListing || (isTruncated && next === null)) return null
  const named = isEncoded ? objects.map((object) => ({ ...object, name: decoded(object.name) })) : objects
  const isPlain = named.every(
    ({ name, bytes, modified }) => name !== '' && Number.isSafeInteger(bytes) && Number.isFinite(modified),
  )
  return isPlain ? { objects: named, next: isTruncated ? next : null } : null
}

/** As forms encode, which is what S3 does; empty where it cannot be decoded. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

/** Calls `onElement` with the path and text of each element when it ends. False for what is not XML. */
function readXml(xml: string, onElement: (path: string, text: string) => void): boolean {
  const path: string[] = []
  const texts: string[] = []
  let isWhole = true
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => {
    path.push(name)
    texts.push('')
  })
  parser.on('text', (text) => {
    if (texts.length > 0) texts[texts.length - 1] += text
  })
  parser.on('closetag', () => {
    onElement(path.join('/'), texts.pop() ?? '')
    path.pop()
  })
  parser.on('error', () => {
    isWhole = false
  })
  try {
    parser.write(xml).close()
  } catch {
    return false
  }
  return isWhole && path.length === 0
}
