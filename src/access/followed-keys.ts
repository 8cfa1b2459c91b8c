/**
 * Keys at an address, asked for every two seconds. The last good ones stay in force whatever happens there, and
 * lie in a copy on the disk for a start without it.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RequestFault } from '../snapshot/store/web-request.ts'
import { codeInWords, errorCode } from '../system/file-faults.ts'
import type { LogLine } from '../system/log.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { removeLeftovers, replaceFile } from '../system/replace-file.ts'
import type { KeyRecord } from './key-records.ts'
import { KeysFileError, keysText, MAX_FILE_BYTES, parseKeys } from './keys-file.ts'
import type { KeysObject } from './keys-object.ts'

/** A change is in force within five seconds: the pause, and the time that an answer may take. */
const PAUSE_MS = 2000
/** The next look is the next attempt. */
export const LOOK_LIMITS = { attempts: 1, connectMs: 1500, answerMs: 2000, stallMs: 2000 }
/** One look in this many asks without the ETag: servers make ETags of seconds and size, so two may match. */
const LOOKS_PER_FULL_ONE = 30
/** The default folder of data may be missing. */
const OWNER_ONLY = 0o700

export interface FollowerOptions {
  readonly object: KeysObject
  /** A file beside the snapshots. */
  readonly copyPath: string
  readonly onKeys: (records: readonly KeyRecord[]) => void
  readonly log: LogLine
  readonly pauseMs?: number
}

export class FollowedKeys {
  /** Resolves when it is known which keys there are. */
  readonly known: Promise<void>
  readonly #options: FollowerOptions
  readonly #stopping = new AbortController()
  #resolveKnown: () => void = () => {}
  /** Text of the keys in force; null while none are known. */
  #text: string | null = null
  #count = 0
  #etag: string | null = null
  /** What is wrong with the object, and with the last look at it. */
  #objectFault: string | null = null
  #problem: string | null = null
  #isCopyFailing = false

  constructor(options: FollowerOptions) {
    this.#options = options
    this.known = new Promise((resolve) => (this.#resolveKnown = resolve))
    const records = readCopy(options.copyPath, options.object.address)
    if (records !== null) {
      this.#take(records)
      options.log(`${options.copyPath}: starting with the last good keys, ${records.length} of them`)
    }
    void this.#follow()
  }

  figures(): { backend: string; count: number; isUp: boolean } {
    return { backend: this.#options.object.kind, count: this.#count, isUp: this.#problem === null }
  }

  status(): object {
    const { kind, address } = this.#options.object
    return {
      store: kind,
      address,
      count: this.#count,
      good: this.#problem === null,
      problem: this.#problem,
    }
  }

  close(): void {
    this.#stopping.abort()
    this.#options.object.close()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    for (let looks = 0; !signal.aborted; looks++) {
      let problem: string | null
      try {
        await this.#look(looks % LOOKS_PER_FULL_ONE === 0)
        problem = this.#objectFault
      } catch (error) {
        // A fault of the program must not end a server that has good keys.
        const isExpected = error instanceof RequestFault
        problem = isExpected
          ? error.message
          : `fault: ${error instanceof Error ? error.stack : String(error)}`
      }
      if (!signal.aborted) this.#enter(problem)
      await sleep(this.#options.pauseMs ?? PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async #look(isFull: boolean): Promise<void> {
    const { object, copyPath, log } = this.#options
    try {
      const found = await object.read(isFull ? null : this.#etag, this.#stopping.signal)
      this.#objectFault = null
      if (found === 'unchanged') return
      if (found !== null) {
        // Only that of good keys is kept.
        this.#etag = found.etag
        if (this.#take(found.records)) this.#writeCopy(copyPath)
      } else if (this.#text !== null) {
        this.#objectFault = `${object.address}: has vanished`
      } else {
        log(
          `no keys in ${object.address}: every keyed operation answers 401 until "keys issue --keys ${object.address}" issues one`,
          'warning',
        )
        this.#resolveKnown()
      }
    } catch (error) {
      if (!(error instanceof KeysFileError)) throw error
      this.#objectFault = error.message
    }
  }

  /** @returns whether they are others than before */
  #take(records: readonly KeyRecord[]): boolean {
    const text = keysText(records, copyHead(this.#options.object.address))
    if (text === this.#text) return false
    this.#text = text
    this.#count = records.length
    this.#options.onKeys(records)
    this.#resolveKnown()
    return true
  }

  #writeCopy(path: string): void {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY })
      removeLeftovers(path)
      replaceFile(path, this.#text ?? '')
      this.#isCopyFailing = false
    } catch (error) {
      if (!this.#isCopyFailing) {
        this.#options.log(
          `${path}: the copy of the keys cannot be written ${codeInWords(error)}: without it, a start needs ${this.#options.object.address}`,
          'warning',
        )
      }
      this.#isCopyFailing = true
    }
  }

  #enter(problem: string | null): void {
    const { object, log } = this.#options
    const had = this.#problem !== null
    this.#problem = problem
    if (problem !== null && !had) {
      const meanwhile =
        this.#text === null
          ? 'no requests are taken until the keys are known'
          : `the last good keys, ${this.#count} of them, stay in force`
      log(`${problem}; ${meanwhile}`, 'warning')
    } else if (problem === null && had) {
      log(`${object.address}: the keys are followed again, ${this.#count} of them`)
    }
  }
}

const copyHead = (address: string): string => `"copy_of":${JSON.stringify(address)},`

/** Null for no copy of this address. @throws KeysFileError for one that cannot be used */
function readCopy(path: string, address: string): readonly KeyRecord[] | null {
  let text: string
  try {
    text = readRegularFileSync(path, MAX_FILE_BYTES).toString('utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new KeysFileError(`${path}: cannot be read ${codeInWords(error)}`)
  }
  const [head] = keysText([], copyHead(address)).split('\n')
  if (!text.startsWith(head)) return null
  const records = parseKeys(text)
  if (typeof records === 'string') throw new KeysFileError(`${path}: ${records}; remove it, or restore it`)
  return records
}
