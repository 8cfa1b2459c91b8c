/** Every source kind by its name in `--source KIND:ARGUMENT` and in the configuration. */
import type { TSchema } from 'typebox'
import { openAltimetry } from './altimetry.ts'
import { openCandhis } from './candhis.ts'
import { CMEMS_OPTIONS, openCmems } from './cmems.ts'
import { openCsv } from './csv.ts'
import { openDemo } from './demo/demo.ts'
import { FORECAST_OPTIONS, openForecast } from './forecast/forecast-source.ts'
import { openMeteofrance } from './meteofrance.ts'
import { openNdbc } from './ndbc/ndbc.ts'
import { inReaderProcess } from './process/reader-process.ts'
import { type OpenSource, type Source, type SourceLimits, type SourceOptions } from './source.ts'
import { TABLE_OPTIONS } from './tables/column-map.ts'
import { openErddap } from './tables/erddap.ts'
import { openJsonSource } from './tables/json.ts'
import { openTable } from './tables/table.ts'
import { BuildError } from '../system/build-error.ts'
import { stepsBetween } from '../system/text.ts'
import { openTides } from './tides-source.ts'

interface Kind {
  readonly open: OpenSource
  readonly options?: TSchema
  /** The argument after `KIND:`, and the files that are read there. */
  readonly help: string
}

export const KINDS: { readonly [kind: string]: Kind } = {
  ndbc: { open: openNdbc, help: 'DIR: NDBC text: station list, realtime2, stdmet, latest_obs' },
  candhis: {
    open: openCandhis,
    help: 'DIR: Candhis archive and real-time CSV with a station list, API v1 JSON',
  },
  cmems: { open: openCmems, options: CMEMS_OPTIONS, help: 'DIR: Copernicus Marine in-situ NetCDF' },
  erddap: { open: openErddap, options: TABLE_OPTIONS, help: 'DIR: ERDDAP tables as CSV, CSVP or JSON' },
  meteofrance: { open: openMeteofrance, help: 'DIR: Météo-France marine CSV' },
  table: {
    open: openTable,
    options: TABLE_OPTIONS,
    help: 'DIR: tables of text with well-known names, or mapped',
  },
  json: { open: openJsonSource, options: TABLE_OPTIONS, help: 'DIR: rows of any JSON, mapped' },
  altimetry: {
    open: openAltimetry,
    help: 'DIR: Copernicus Marine L3 along-track NetCDF: satellite passes',
  },
  csv: { open: openCsv, help: 'DIR: tables of our own plain format' },
  forecast: {
    open: openForecast,
    options: FORECAST_OPTIONS,
    help: 'DIR: Open-Meteo JSON, EDR CoverageJSON, ERDDAP griddap JSON',
  },
  tides: { open: openTides, help: 'DIR: harbour files with harmonic constituents' },
  demo: { open: openDemo, help: 'nothing, or scale,buoys=N,days=N: made-up data' },
}

/** A source that is read in its own process. @throws BuildError for an unknown kind or a refused argument */
export function openSource(
  kind: string,
  argument: string,
  options?: SourceOptions,
  limits?: SourceLimits,
): Source {
  const source = openKind(kind, argument, options)
  return source.isMadeUp === true ? source : inReaderProcess({ kind, argument, options, source }, limits)
}

/** A source that is read in this process. @throws BuildError as `openSource` */
export function openKind(kind: string, argument: string, options?: SourceOptions): Source {
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (known === undefined) {
    throw new BuildError(`--source: unknown kind ${unknownWord(kind, Object.keys(KINDS))}`)
  }
  return known.open(argument, options)
}

/** The argument after each `KIND:`, for the help. */
export const KIND_HELP: { readonly [kind: string]: string } = Object.fromEntries(
  Object.entries(KINDS).map(([kind, { help }]) => [kind, help]),
)

/** The known word that a mistyped one is most like; undefined where more than a third of it is different. */
export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase().slice(0, LONGEST_WORD)
  const ranked = known.map((word) => ({ word, steps: stepsBetween(wanted, word.toLowerCase()) }))
  const [nearest] = ranked.sort((a, b) => a.steps - b.steps)
  return nearest !== undefined && nearest.steps * 3 <= Math.max(wanted.length, 3) ? nearest.word : undefined
}

/** A word in quotes that is not among the known ones, with the one that may have been meant. */
export function unknownWord(typed: string, known: readonly string[]): string {
  const meant = nearestWord(typed, known)
  const guess = meant === undefined ? '' : `: did you mean "${meant}"?`
  return `${JSON.stringify(typed.slice(0, LONGEST_WORD))}${guess} (known are ${known.join(', ')})`
}

/** Mistyped words are compared up to this length. */
const LONGEST_WORD = 100
