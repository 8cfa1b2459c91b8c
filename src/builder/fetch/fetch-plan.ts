/** Which files a configuration's templates name, and which are due by the hidden index in the folder. */
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfiguredSource } from '../../sources/configuration.ts'
import type { Content, Download } from '../../sources/configuration-schema.ts'
import { DAY, dateText } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import { compareText } from '../../system/text.ts'
import { readRegularFileSync } from '../../system/regular-files.ts'
import { randomName } from '../../system/replace-file.ts'
import { TEMPORARY_PREFIX, type Validators } from './download.ts'

/** Bytes where the configuration names no limit; the longest text of a network so far has 43 MB. */
const DEFAULT_MAX_BYTES = 256 * 2 ** 20
/** Most files of one source: a template of stations and days can name very many. */
const MAX_FILES = 50_000

export interface PlannedFile {
  url: string
  /** Path below the source's folder. */
  to: string
  content: Content
  maxBytes: number
  download: Download
}

/** The files of a source on a day. @throws BuildError when there are too many. */
export function planFiles({ downloads }: ConfiguredSource, now: number): PlannedFile[] {
  const planned = new Map<string, PlannedFile>()
  for (const entry of downloads) {
    const { url, to, stations, days = 1, content, maxBytes = DEFAULT_MAX_BYTES } = entry
    const byDay = /\{(YYYY|MM|DD)\}/.test(url)
    const periods = Array.from({ length: byDay ? days : 1 }, (_, i) => {
      const first = now - (byDay ? i : days - 1) * DAY
      const [year, month, day] = dateText(first).split('-')
      return { YYYY: year, MM: month, DD: day, from: dateText(first), until: dateText(now + DAY) }
    })
    for (const period of periods) {
      for (const station of stations ?? ['']) {
        const words: { [word: string]: string } = { ...period, station }
        const fill = (template: string): string =>
          template.replace(/\{([^{}]*)\}/g, (_, word: string) => words[word] ?? '')
        const path = fill(to)
        planned.set(path, {
          url: fill(url),
          to: path,
          content: content ?? contentOf(path),
          maxBytes,
          download: entry,
        })
        if (planned.size > MAX_FILES) throw new BuildError(`more than ${MAX_FILES} files`)
      }
    }
  }
  return [...planned.values()]
}

function contentOf(path: string): Content {
  const ending = /\.([a-z]+)(?:\.gz)?$/i.exec(path)?.[1].toLowerCase() ?? ''
  const known: { readonly [ending: string]: Content } = {
    txt: 'text',
    csv: 'text',
    tsv: 'text',
    json: 'json',
    geojson: 'json',
    xml: 'xml',
    nc: 'netcdf',
  }
  return Object.hasOwn(known, ending) ? known[ending] : 'any'
}

export function dueFiles(source: ConfiguredSource, now: number): PlannedFile[] {
  const index = readIndex(source.folder)
  return planFiles(source, now).filter((file) => isDue(source, file, index, now))
}

/** A refresh is aligned to the clock, as builds are: a build a second early would else ask for nothing. */
export function isDue(
  { folder, refresh }: ConfiguredSource,
  { to, url }: PlannedFile,
  index: Index,
  now: number,
): boolean {
  const entry = index.get(to)
  if (entry === undefined || entry.url !== url || !isThere(folder, to, entry)) return true
  return Math.floor(now / refresh) > Math.floor(entry.checked / refresh)
}

const INDEX_FILE = '.fetched.json'
/** 200,000 files at some 300 bytes: more than any source may have. */
const MAX_INDEX_BYTES = 2 ** 26

export interface IndexEntry extends Validators {
  url: string
  bytes: number
  /** The file's time of change, to recognise it. */
  modified: number
  /** When the server last gave or confirmed it, epoch seconds. */
  checked: number
}

/** Entries by path below the source's folder. */
export type Index = Map<string, IndexEntry>

export function isThere(folder: string, to: string, { bytes, modified }: IndexEntry): boolean {
  const info = statSync(join(folder, to), { throwIfNoEntry: false })
  return info !== undefined && info.size === bytes && info.mtimeMs === modified
}

/** The index of a folder. It is empty where it cannot be read: everything is asked for anew. */
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
