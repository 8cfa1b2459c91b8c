/**
 * One file from a store to a folder, hashed as it comes into a file under a temporary name that nobody else
 * writes to; only the right bytes get the part's name. The next attempt takes over what a broken one left.
 *
 *   .half-PART.RANDOM    the beginning of a part
 */
import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDiskFull } from '../../system/file-faults.ts'
import { randomName } from '../../system/random-name.ts'
import type { ReadableStore, StoreAnswer } from './store.ts'
import { RequestFault } from './web-request.ts'

const HALF_PREFIX = '.half-'
/** Attempts at a body that breaks off; each goes on where the last one ended. */
const ATTEMPTS = 4
/** Pause before the second attempt; doubled for each further one. */
const RETRY_FIRST_MS = 100

/** A file in a store, which never changes. */
export interface StoredFile {
  file: string
  bytes: number
  sha256: string
}

export interface PartRequest {
  source: ReadableStore
  dir: string
  entry: StoredFile
  signal: AbortSignal
  /** Called with the number of bytes that came over the network. */
  onBytes?: (count: number) => void
}

/** Brings a file into the folder. @throws RequestFault, a fault of the disk, or the reason of `signal` */
export async function fetchPart(request: PartRequest): Promise<void> {
  const { source, dir, entry } = request
  const left = halvesIn(dir, entry.file)
  const path = join(dir, `${HALF_PREFIX}${entry.file}.${randomName()}`)
  const half = new Half(await open(path, 'ax', 0o644))
  let isWorthKeeping = true
  try {
    await half.takeOver(left, entry.bytes)
    await fill(half, request)
    if (half.digest() !== entry.sha256) {
      isWorthKeeping = false
      throw new RequestFault(
        `${source.address}: ${entry.file} has other bytes than the manifest says: they do not have its hash`,
      )
    }
    await half.file.datasync()
    renameSync(path, join(dir, entry.file))
    isWorthKeeping = false
  } catch (error) {
    if (isDiskFull(error)) isWorthKeeping = false
    throw error
  } finally {
    await half.file.close()
    if (!isWorthKeeping || half.at === 0) rmSync(path, { force: true })
  }
}

/** Paths of the beginnings of a part, or of all parts. */
function halvesIn(dir: string, file = ''): string[] {
  const start = file === '' ? HALF_PREFIX : `${HALF_PREFIX}${file}.`
  return readdirSync(dir).flatMap((name) => (name.startsWith(start) ? [join(dir, name)] : []))
}

/** Removes what is left of parts that broke off. Run under the folder's lock. */
export function removeHalves(dir: string): void {
  for (const path of halvesIn(dir)) rmSync(path, { force: true })
}

/** A part as far as it has come. */
class Half {
  readonly file: FileHandle
  at = 0
  #hash = createHash('sha256')

  /** @param file empty, and open for appending */
  constructor(file: FileHandle) {
    this.file = file
  }

  /**
   * Begins with the longest of what earlier attempts left. It is copied, since a process that was only
   * stopped may write to its own file when it wakes.
   */
  async takeOver(left: readonly string[], longest: number): Promise<void> {
    const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const [best] = left.toSorted((a, b) => sizeOf(b) - sizeOf(a))
    if (best !== undefined && sizeOf(best) <= longest) {
      try {
        for await (const chunk of createReadStream(best) as AsyncIterable<Buffer>) await this.add(chunk)
      } catch {
        await this.restart()
      }
    }
    for (const path of left) rmSync(path, { force: true })
  }

  async add(bytes: Uint8Array): Promise<void> {
    await this.file.appendFile(bytes)
    this.#hash.update(bytes)
    this.at += bytes.length
  }

  async restart(): Promise<void> {
    await this.file.truncate(0)
    this.#hash = createHash('sha256')
    this.at = 0
  }

  digest(): string {
    return this.#hash.copy().digest('hex')
  }
}

async function fill(half: Half, request: PartRequest): Promise<void> {
  const { source, entry, signal } = request
  const began = half.at
  for (let attempt = 1; half.at < entry.bytes; attempt++) {
    try {
      await receive(half, request)
      if (half.at < entry.bytes) {
        const what = `${source.address}: ${entry.file}`
        throw new RequestFault(`${what} ends at byte ${half.at} of ${entry.bytes}`, { passing: true })
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RequestFault) || !error.passing || attempt >= ATTEMPTS) throw error
      await sleep(RETRY_FIRST_MS * 2 ** (attempt - 1), undefined, { signal })
    }
  }
  // What was taken over may be wrong: it must not spoil every further attempt.
  if (half.digest() !== entry.sha256 && began > 0) {
    await half.restart()
    await fill(half, request)
  }
}

async function receive(half: Half, { source, entry, signal, onBytes }: PartRequest): Promise<void> {
  const range = half.at > 0 && { range: { from: half.at } }
  const answer = await source.get(entry.file, { signal, ...range })
  try {
    const fault = await answerFault(answer, half, entry)
    if (fault !== null) throw new RequestFault(`${source.address}: ${entry.file} ${fault}`)
    if (answer.status === 416) return
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (half.at + chunk.length > entry.bytes) {
        throw new RequestFault(
          `${source.address}: ${entry.file} has more bytes than the ${entry.bytes} that the manifest says`,
        )
      }
      onBytes?.(chunk.length)
      await half.add(chunk)
    }
  } finally {
    answer.body.destroy()
  }
}

/** Why an answer is not the part; null where it may be. Makes room for one that begins anew. */
async function answerFault(
  { status, headers }: StoreAnswer,
  half: Half,
  { bytes }: StoredFile,
): Promise<string | null> {
  if (status === 404) return 'is missing, although the manifest names it'
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return 'comes in an encoding that was not asked for'
  const isRest = status === 206 && headers['content-range']?.startsWith(`bytes ${half.at}-`) === true
  if (!isRest) await half.restart()
  if (status === 206 && !isRest) return 'comes in another range than was asked for'
  if (status === 304) return 'is answered as unchanged, although nothing was asked about that'
  if (status === 416) return null
  if (headers['content-type']?.startsWith('text/html') === true) return 'is answered with a web page'
  const said = headers['content-length']
  if (said === undefined || Number(said) === bytes - half.at) return null
  return `has ${Number(said) + half.at} bytes, the manifest says ${bytes}`
}
