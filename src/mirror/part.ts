/**
 * One part from a store to the folder. Its bytes are hashed as they come, into a file under a temporary name
 * that nobody else writes to; only the right bytes get the part's name. What is there of a part that broke
 * off, also when its process was killed, is taken over by the next attempt.
 *
 *   .half-PART.RANDOM    the beginning of a part
 */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PartEntry } from '../snapshot/format.ts'
import type { ReadableStore, StoreAnswer } from '../store/store.ts'
import { RequestFault } from '../store/web-request.ts'
import { errorCode, isDiskFull, whyNotWritten } from '../system/file-faults.ts'
import { randomName } from '../system/random-name.ts'
import { MirrorFault } from './fault.ts'

const HALF_PREFIX = '.half-'
/** Of a body that breaks off again and again. Each one goes on where the last one ended. */
const ATTEMPTS = 4
/** Before the second attempt; doubled for each further one. */
const RETRY_FIRST_MS = 100

/** What of a store a mirror uses. */
export type Source = ReadableStore

export interface PartRequest {
  source: Source
  dir: string
  entry: PartEntry
  signal: AbortSignal
  /** Called with the number of bytes that came over the network. */
  onBytes: (count: number) => void
}

/** Brings a part into the folder. @throws MirrorFault, RequestFault, or the reason of `signal` */
export async function fetchPart(request: PartRequest): Promise<void> {
  const { dir, entry } = request
  const path = join(dir, `${HALF_PREFIX}${entry.file}.${randomName()}`)
  const half = await takeOver(dir, entry, path)
  let isWorthKeeping = true
  try {
    await fill(half, request)
    if (half.digest() !== entry.sha256) {
      isWorthKeeping = false
      throw new MirrorFault(
        `${request.source.address}: ${entry.file} has other bytes than the manifest says: they do not have its hash`,
      )
    }
    await half.file.datasync()
    renameSync(path, join(dir, entry.file))
    isWorthKeeping = false
  } catch (error) {
    if (isDiskFull(error)) isWorthKeeping = false
    throw folderFault(dir, error)
  } finally {
    await half.file.close()
    if (!isWorthKeeping || half.at === 0) rmSync(path, { force: true })
  }
}

/** Removes what is left of parts that broke off. Run under the folder's lock. */
export function removeHalves(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (name.startsWith(HALF_PREFIX)) rmSync(join(dir, name), { force: true })
  }
}

/** A fault of our own disk in words; other errors as they are. */
export function folderFault(dir: string, error: unknown): unknown {
  if (error instanceof RequestFault || error instanceof MirrorFault) return error
  const isSystemFault = error instanceof Error && 'syscall' in error && 'errno' in error
  if (!isSystemFault) return error
  const what = isDiskFull(error) ? whyNotWritten(error) : `cannot be written (${errorCode(error)})`
  return new MirrorFault(`${dir}: ${what}`, { cause: error })
}

/** A part as far as it has come. */
class Half {
  readonly file: FileHandle
  at = 0
  #hash: Hash = createHash('sha256')

  constructor(file: FileHandle) {
    this.file = file
  }

  async add(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const { bytesWritten } = await this.file.write(
        bytes,
        written,
        bytes.length - written,
        this.at + written,
      )
      written += bytesWritten
    }
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

/**
 * Begins a part with what an earlier attempt left. It is copied, not appended to: a process that was only
 * stopped may write to its own file when it wakes.
 */
async function takeOver(dir: string, { file, bytes }: PartEntry, path: string): Promise<Half> {
  const left = readdirSync(dir)
    .filter((name) => name.startsWith(`${HALF_PREFIX}${file}.`))
    .map((name) => join(dir, name))
    .map((old) => ({ old, size: statSync(old, { throwIfNoEntry: false })?.size ?? 0 }))
    .toSorted((a, b) => b.size - a.size)
  try {
    const half = new Half(await open(path, 'wx', 0o644))
    const [best] = left
    if (best !== undefined && best.size <= bytes) {
      try {
        for await (const chunk of createReadStream(best.old, {
          highWaterMark: 256 * 1024,
        }) as AsyncIterable<Buffer>) {
          await half.add(chunk)
        }
      } catch {
        await half.restart()
      }
    }
    for (const { old } of left) rmSync(old, { force: true })
    return half
  } catch (error) {
    throw folderFault(dir, error)
  }
}

async function fill(half: Half, request: PartRequest): Promise<void> {
  const { source, entry, signal } = request
  const what = `${source.address}: ${entry.file}`
  const began = half.at
  for (let attempt = 1; half.at < entry.bytes; attempt++) {
    try {
      await receive(half, request, what)
      if (half.at < entry.bytes) {
        throw new RequestFault(`${what} ends at byte ${half.at} of ${entry.bytes}`, { passing: true })
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RequestFault) || !error.passing || attempt >= ATTEMPTS) throw error
      await sleep(RETRY_FIRST_MS * 2 ** (attempt - 1), undefined, { signal })
    }
  }
  // What was taken over may be wrong, and nothing of this attempt: it must not spoil every further one.
  if (half.digest() !== entry.sha256 && began > 0) {
    await half.restart()
    await fill(half, request)
  }
}

async function receive(
  half: Half,
  { source, entry, signal, onBytes }: PartRequest,
  what: string,
): Promise<void> {
  const isRest = half.at > 0
  const answer = await source.get(entry.file, { signal, ...(isRest && { range: { from: half.at } }) })
  const fault = await answerFault(answer, half, entry)
  if (fault !== null) {
    drop(answer.body)
    throw new MirrorFault(`${what} ${fault}`)
  }
  if (answer.status === 416) return
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    if (half.at + chunk.length > entry.bytes) {
      drop(answer.body)
      throw new MirrorFault(`${what} has more bytes than the ${entry.bytes} that the manifest says`)
    }
    onBytes(chunk.length)
    await half.add(chunk)
  }
}

/** Why an answer is not the part, in words; null where it may be. Makes room for one that begins anew. */
async function answerFault(
  { status, headers }: StoreAnswer,
  half: Half,
  { bytes }: PartEntry,
): Promise<string | null> {
  if (status === 404) return 'is missing, although the manifest names it'
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return 'comes in an encoding that was not asked for'
  const isRest = status === 206 && headers['content-range']?.startsWith(`bytes ${half.at}-`) === true
  if (!isRest) await half.restart()
  if (status === 206 && !isRest) return 'comes in another range than was asked for'
  if (status === 304) return 'is said to be unchanged, although nothing was asked about that'
  if (status === 416) return null
  if (headers['content-type']?.startsWith('text/html') === true) return 'is answered with a web page'
  const said = headers['content-length']
  if (said === undefined || Number(said) === bytes - half.at) return null
  return `has ${Number(said) + half.at} bytes, the manifest says ${bytes}`
}

/** Ends an answer whose body is not wanted. */
function drop(body: Readable): void {
  body.on('error', () => {})
  body.destroy()
}
