/** Which files the configuration asks for, with the words of its templates filled in. */
import type { ConfiguredSource } from '../sources/configuration.ts'
import type { Content, Download } from '../sources/configuration-schema.ts'
import { DAY, dateText } from '../sea/time.ts'
import { BuildError } from '../system/build-error.ts'

/** Where the configuration says nothing; the longest text of a network so far has 43 MB. */
const DEFAULT_MAX_BYTES = 256 * 2 ** 20
/** Of one source: a template of stations and days can name very many. */
const MAX_FILES = 50_000

/** One file to ask for. */
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
