/** What the servers said about each fetched file: a hidden index in the source's folder. */
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compareText } from '../system/compare-text.ts'
import { readRegularFileSync } from '../system/files.ts'
import { randomName } from '../system/random-name.ts'
import { TEMPORARY_PREFIX, type Validators } from './download.ts'

const INDEX_FILE = '.fetched.json'
/** 200,000 files at some 300 bytes: more than any source may have. */
const MAX_INDEX_BYTES = 2 ** 26

export interface IndexEntry extends Validators {
  url: string
  bytes: number
  /** Of the file, to recognise it. */
  modified: number
  /** When the server last gave or confirmed it, epoch seconds. */
  checked: number
}

/** By path below the source's folder. */
export type Index = Map<string, IndexEntry>

/** Whether the file is the one in the index. */
export function isThere(folder: string, to: string, { bytes, modified }: IndexEntry): boolean {
  const info = statSync(join(folder, to), { throwIfNoEntry: false })
  return info !== undefined && info.size === bytes && info.mtimeMs === modified
}

/** Empty where the index cannot be read: everything is asked for anew. */
export function readIndex(folder: string): Index {
  try {
    const entries = JSON.parse(
      readRegularFileSync(join(folder, INDEX_FILE), MAX_INDEX_BYTES).toString('utf8'),
    ) as [string, IndexEntry][]
    return new Map(entries)
  } catch {
    return new Map()
  }
}

export function writeIndex(folder: string, index: Index): void {
  const temporary = join(folder, `${TEMPORARY_PREFIX}${randomName()}-index`)
  const entries = [...index].sort(([a], [b]) => compareText(a, b))
  writeFileSync(temporary, `${JSON.stringify(entries)}\n`)
  renameSync(temporary, join(folder, INDEX_FILE))
}
