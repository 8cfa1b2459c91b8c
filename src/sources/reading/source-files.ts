/** Files of a source as bytes (plain, gzip, UTF-8, UTF-16) and JSON, bounded in number, size and nesting. */
import { createGunzip } from 'node:zlib'
import type { Stats } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { opendir, realpath, stat } from 'node:fs/promises'
import { BuildError } from '../../system/build-error.ts'
import doubts from '../doubts.json' with { type: 'json' }
import type { FileReport, Report } from '../source.ts'
import { CR, LF, decode } from './fields.ts'
import { codeInWords, errorCode } from '../../system/file-faults.ts'
import { UnfitFile, readRegularFileSync } from '../../system/regular-files.ts'

/** Largest file after decompression: it is held in memory whole, and a small .gz can hold any amount. */
const MAX_FILE_BYTES = 2 ** 30

const MAX_ENTRIES = 500_000

interface FolderListing {
  /** Paths of regular files, sorted in each folder, without hidden ones. */
  files: string[]
  /** Paths of folders that were not looked into, without hidden ones. */
  folders: string[]
}

/**
 * The files of `folder` and of folders below it, down to as many levels; null if it is missing. A link counts
 * as what it points to. @throws BuildError for one that leads out of `top`
 */
export async function listFolder(folder: string, levels = 1, top = folder): Promise<FolderListing | null> {
  const files: string[] = []
  const folders: string[] = []
  try {
    for await (const entry of await opendir(folder, { bufferSize: 1024 })) {
      if (entry.name.startsWith('.')) continue
      // Pipes and devices are never opened.
      const kind = entry.isSymbolicLink() ? await linked(join(folder, entry.name), top) : entry
      if (kind?.isFile()) files.push(entry.name)
      else if (kind?.isDirectory()) folders.push(entry.name)
      if (files.length + folders.length > MAX_ENTRIES) throw tooMany(folder)
    }
  } catch (error) {
    if (error instanceof BuildError) throw error
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new BuildError(`${folder}: cannot be read (${code})`)
  }
  const listing = { files: files.sort(), folders: folders.sort() }
  if (levels === 1) return listing
  listing.folders = []
  for (const name of folders) {
    const below = await listFolder(join(folder, name), levels - 1, top)
    for (const file of below?.files ?? []) files.push(join(name, file))
    for (const deeper of below?.folders ?? []) listing.folders.push(join(name, deeper))
    if (files.length > MAX_ENTRIES) throw tooMany(folder)
  }
  return listing
}

/** The target of a link; null for none. @throws BuildError */
async function linked(link: string, top: string): Promise<Stats | null> {
  const found = await stat(link).catch(() => null)
  if (found === null || (!found.isFile() && !found.isDirectory())) return found
  const below = relative(await realpath(top), await realpath(link))
  if (below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)) return found
  throw new BuildError(
    `${link}: is a link to a place outside of ${top}, and is not followed; copy what it leads to into the folder, or name that folder as a source`,
  )
}

function tooMany(folder: string): BuildError {
  return new BuildError(`${folder}: holds more than ${MAX_ENTRIES} files; split it`)
}

/**
 * The files of a source's folder, as in `listFolder`. @throws BuildError that names the kind of a missing
 * folder
 */
export async function listSource(kind: string, folder: string, levels = 1): Promise<FolderListing> {
  const listing = await listFolder(folder, levels)
  if (listing !== null) return listing
  const fault = folder === '' ? `no folder is named: write ${kind}:DIR` : `there is no folder ${folder}`
  throw new BuildError(`${kind}: ${fault}`)
}

/**
 * The only files of a source that it reads; the others make a doubt. @throws BuildError where there are none
 */
export async function listOnly(
  kind: string,
  folder: string,
  report: Report,
  { wanted, called, levels = 1 }: { wanted: RegExp; called: string; levels?: number },
): Promise<string[]> {
  const { files, folders } = await listSource(kind, folder, levels)
  doubtIgnored(report, [...files.filter((name) => !wanted.test(name)), ...folders], `not ${called}`)
  const found = files.filter((name) => wanted.test(name))
  if (found.length === 0) throw new BuildError(`${kind}: ${folder} holds no ${called}`)
  return found
}

/** One doubt for all files and folders that a source does not read. */
export function doubtIgnored(report: Report, names: readonly string[], why = ''): void {
  if (names.length === 0) return
  const what = `files or folders are not read${why === '' ? '' : ` (${why})`}`
  report.doubt({ what, times: names.length, examples: names })
}

/** Reports a doubt `times` times, by default once. */
export type TakeDoubt = (kind: keyof typeof doubts, example: string, times?: number) => void

/** Reports doubts about one file, with its path before the example, or about the source. */
export function takeDoubts(report: Pick<Report, 'doubt'>, path = ''): TakeDoubt {
  return (kind, example, times = 1) => {
    const examples = [path === '' ? example : `${path}: ${example}`]
    if (times > 0) report.doubt({ ...doubts[kind], examples, times })
  }
}

/** A file that cannot be used; the message says why, without anything of its content. */
export class UnusableFile extends Error {}

/** The bytes of a file that is held whole. @throws UnusableFile */
export function wholeFile(path: string, maxBytes: number): Buffer {
  try {
    return readRegularFileSync(path, maxBytes)
  } catch (error) {
    throw new UnusableFile(error instanceof UnfitFile ? error.message : 'cannot be read')
  }
}

/** The files of a source of which each is used or left out whole. */
export class WholeFiles {
  readonly #kind: string
  readonly #report: Report
  #used = 0
  #fault = ''

  constructor(kind: string, report: Report) {
    this.#kind = kind
    this.#report = report
  }

  /** Uses a file; one that cannot be used is left out with a doubt. */
  async use(path: string, read: () => void | Promise<void>): Promise<void> {
    try {
      await read()
      this.#used++
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error
      // A file's name may hold what steers a terminal.
      this.#fault ||= `${JSON.stringify(path).slice(1, -1)}: ${error.message}`
      takeDoubts(this.#report, path)('unusable', error.message)
    }
  }

  /** @throws BuildError where there were files and none of them could be used */
  expectUsed(): void {
    if (this.#used === 0 && this.#fault !== '')
      throw new BuildError(`${this.#kind}: no file could be read; ${this.#fault}`)
  }
}

/**
 * Reads a plain or gzip file, recognized by its content, without its byte order mark; UTF-16 becomes UTF-8,
 * and a carriage return alone that ends lines a line feed. A damaged or cut gzip file is reported as one bad
 * line, and the whole lines before the damage are returned.
 * @throws BuildError when the file cannot be read or is larger than `maxBytes`, before or after decompression
 */
export async function readText(path: string, file: FileReport, maxBytes = MAX_FILE_BYTES): Promise<Buffer> {
  let stored: Buffer
  try {
    stored = readRegularFileSync(path, maxBytes)
  } catch (error) {
    if (error instanceof UnfitFile) {
      throw error.code === 'TOO_LARGE'
        ? tooLarge(path, maxBytes)
        : new BuildError(`${path}: ${error.message}`)
    }
    throw new BuildError(`${path}: cannot be read ${codeInWords(error)}`)
  }
  const bytes =
    stored[0] === 0x1f && stored[1] === 0x8b ? await decompress(path, stored, file, maxBytes) : stored
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return withLineFeeds(marked ? bytes.subarray(3) : fromUtf16(bytes))
}

/** Bytes that show whether a text without a byte order mark is UTF-16. */
const UTF16_LOOK = 512

/** UTF-16, as spreadsheets save "Unicode text", becomes UTF-8; all else stays. */
function fromUtf16(bytes: Buffer): Buffer {
  const head = bytes.subarray(0, UTF16_LOOK)
  // In UTF-16 every second byte of figures, blanks and separators is 0, which no other text holds.
  const zeros = (odd: number): number =>
    head.reduce((n, byte, i) => n + Number(byte === 0 && i % 2 === odd), 0)
  const isMostly = (odd: number): boolean => head.length > 3 && zeros(odd) * 3 > head.length
  const isLittle = (bytes[0] === 0xff && bytes[1] === 0xfe) || isMostly(1)
  const isBig = (bytes[0] === 0xfe && bytes[1] === 0xff) || isMostly(0)
  if (isLittle === isBig) return bytes
  return Buffer.from(new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be').decode(bytes))
}

function withLineFeeds(bytes: Buffer): Buffer {
  if (bytes.includes(LF) || !bytes.includes(CR)) return bytes
  return Buffer.from(bytes.map((byte) => (byte === CR ? LF : byte)))
}

async function decompress(path: string, stored: Buffer, file: FileReport, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  const stream = createGunzip({ chunkSize: 2 ** 16 })
  stream.end(stored)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) throw tooLarge(path, maxBytes)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof BuildError) throw error
  }
  const whole = Buffer.concat(chunks)
  // The last line may be cut inside a number.
  const kept = whole.subarray(0, whole.lastIndexOf(LF) + 1)
  let line = 1
  for (let at = kept.indexOf(LF); at >= 0; at = kept.indexOf(LF, at + 1)) line++
  file.bad(line, 'the gzip data is damaged or cut off here')
  return kept
}

function tooLarge(path: string, maxBytes: number): BuildError {
  return new BuildError(`${path}: larger than ${maxBytes} bytes; split it`)
}

/** Levels of lists and objects; real answers have six. */
const MAX_DEPTH = 64
/** Values of one document. An empty object of three bytes takes sixty in memory. */
const MAX_VALUES = 2 ** 24

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const OPENING_BRACE = 0x7b
const CLOSING_BRACKET = 0x5d
const CLOSING_BRACE = 0x7d

export type Json = { [key: string]: unknown }

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a document, or its fault in fixed words. */
export function parseBounded(bytes: Uint8Array): { value: unknown } | { fault: string } {
  const fault = excessOf(bytes)
  if (fault !== null) return { fault }
  try {
    return { value: JSON.parse(decode(bytes)) }
  } catch {
    return { fault: 'not JSON, or cut off' }
  }
}

function excessOf(bytes: Uint8Array): string | null {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) {
        if (bytes[at] === BACKSLASH) at++
      }
    } else if (byte === COMMA) values++
    else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      values++
      if (++depth > MAX_DEPTH) return `more than ${MAX_DEPTH} levels of lists and objects`
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) depth--
  }
  return values > MAX_VALUES ? `more than ${MAX_VALUES} values` : null
}

/** Parses a document within its bounds; any other is reported and gives undefined. */
export function parseDocument(bytes: Uint8Array, file: FileReport): unknown {
  const parsed = parseBounded(bytes)
  if ('value' in parsed) return parsed.value
  file.bad(1, parsed.fault)
  return undefined
}
