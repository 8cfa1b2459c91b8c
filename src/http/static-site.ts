/** Serves static files from memory that threads share; `server/static-files.ts` makes them ready. */
import { Preference, preferredEncoding } from '../operation/preferences.ts'
import { KEPT, NOTHING, type Exchange } from './exchange.ts'
import { namesEtag } from './reply.ts'

/** The page of one buoy. It answers below this path, too: its script reads the slug from the address. */
export const EMBED_PATH = '/embed/'
const EMBEDDED = /^\/embed\/[a-z0-9-]{1,250}$/
/** The address that people guess for the page of a buoy. */
const BUOY = /^\/buoys\/([a-z0-9-]{1,250})$/

/** Values of `Accept` that take a page: those of browsers, and of programs that take anything. */
const PAGE_TAKEN = /^$|text\/html|\*\/\*/

/** One coding of a file. */
export interface Variant {
  encoding: 'br' | 'gzip' | null
  etag: string
  head: string
  /** Place of the bytes in the shared memory. */
  start: number
  end: number
}

/** Files in memory that threads share. */
export interface SharedSite {
  memory: SharedArrayBuffer
  files: { path: string; variants: Variant[]; notModified: string }[]
}

interface ServedFile {
  variants: (Variant & { body: Uint8Array })[]
  preference: Preference<string | null>
  notModified: string
}

/** Serves what `shareSite` has made ready, in any number of threads. */
export class Site {
  readonly #files = new Map<string, ServedFile>()

  constructor(shared: SharedSite) {
    this.take(shared)
  }

  /** Serves these files in place of the earlier ones. */
  take({ memory, files }: SharedSite): void {
    this.#files.clear()
    for (const { path, variants, notModified } of files) {
      const offered = variants.flatMap(({ encoding }) => (encoding === null ? [] : [encoding]))
      this.#files.set(path, {
        variants: variants.map((variant) => ({
          ...variant,
          body: new Uint8Array(memory, variant.start, variant.end - variant.start),
        })),
        preference: new Preference((accepted) => preferredEncoding(accepted, offered)),
        notModified,
      })
    }
  }

  /** Answers GET and HEAD; false if the path names no file. `more`: headers, each after a CRLF. */
  serve(exchange: Exchange, more = ''): boolean {
    const { path } = exchange
    const slug = BUOY.exec(path)?.[1]
    if (slug !== undefined && PAGE_TAKEN.test(exchange.headerValues('accept'))) {
      exchange.send(`302 Found${KEPT}\r\nLocation: ../#buoy=${slug}\r\nCache-Control: no-cache`, NOTHING)
      return true
    }
    const file = this.#files.get(path) ?? (EMBEDDED.test(path) ? this.#files.get(EMBED_PATH) : undefined)
    if (file === undefined) return false
    const encoding = file.preference.choiceFor(exchange.headerValues('accept-encoding'))
    const variant = file.variants.find((each) => each.encoding === encoding)!
    const condition = exchange.headerValues('if-none-match')
    if (condition !== '' && namesEtag(condition, variant.etag)) {
      exchange.send(`${file.notModified}\r\nETag: ${variant.etag}${more}`, null)
    } else {
      exchange.send(variant.head + more, variant.body, true)
    }
    return true
  }
}
