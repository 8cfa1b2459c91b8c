/** Every source kind by its name in `--source KIND:ARGUMENT` and in the configuration. */
import type { TSchema } from 'typebox'
import { openAltimetry } from './altimetry/altimetry.ts'
import { openCandhis } from './candhis.ts'
import { CMEMS_OPTIONS, openCmems } from './cmems.ts'
import { openCsv } from './csv/csv.ts'
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
import { openTides } from './tides-source.ts'

/** A kind with options in the configuration: `example: { open: openExample, options: EXAMPLE_OPTIONS }`. */
interface KindWithOptions {
  readonly open: OpenSource
  readonly options: TSchema
}

const KINDS: { readonly [kind: string]: OpenSource | KindWithOptions } = {
  ndbc: openNdbc,
  candhis: openCandhis,
  cmems: { open: openCmems, options: CMEMS_OPTIONS },
  erddap: { open: openErddap, options: TABLE_OPTIONS },
  meteofrance: openMeteofrance,
  table: { open: openTable, options: TABLE_OPTIONS },
  json: { open: openJsonSource, options: TABLE_OPTIONS },
  altimetry: openAltimetry,
  csv: openCsv,
  forecast: { open: openForecast, options: FORECAST_OPTIONS },
  tides: openTides,
  demo: openDemo,
}

/** What follows `KIND:` and what is read there, for the help. */
export const KIND_HELP: { readonly [kind: string]: string } = {
  ndbc: 'DIR: NDBC text: station list, realtime2, stdmet, latest_obs',
  candhis: 'DIR: Candhis archive and real-time CSV with a station list, API v1 JSON',
  cmems: 'DIR: Copernicus Marine in-situ NetCDF',
  erddap: 'DIR: ERDDAP tables as CSV, CSVP or JSON',
  meteofrance: 'DIR: Météo-France marine CSV',
  table: 'DIR: tables of text with well-known names, or mapped',
  json: 'DIR: rows of any JSON, mapped',
  altimetry: 'DIR: Copernicus Marine L3 along-track NetCDF: satellite passes',
  csv: 'DIR: tables of our own plain format',
  forecast: 'DIR: Open-Meteo JSON, EDR CoverageJSON, ERDDAP griddap JSON',
  tides: 'DIR: harbour files with harmonic constituents',
  demo: 'nothing, or scale,buoys=N,days=N: made-up data',
}

const MADE_UP: ReadonlySet<string> = new Set(['demo'])

/** A source that is read in its own process. @throws BuildError for an unknown kind or a refused argument */
export function openSource(
  kind: string,
  argument: string,
  options?: SourceOptions,
  limits?: SourceLimits,
): Source {
  const source = openKind(kind, argument, options)
  return MADE_UP.has(kind) ? source : inReaderProcess({ kind, argument, options, source }, limits)
}

/** A source that is read in this process. @throws BuildError as `openSource` */
export function openKind(kind: string, argument: string, options?: SourceOptions): Source {
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (known === undefined) {
    throw new BuildError(`--source: unknown kind "${kind}", known are ${Object.keys(KINDS).join(', ')}`)
  }
  return typeof known === 'function' ? known(argument) : known.open(argument, options)
}

/** Schemas of options by kind; null where a kind takes none. */
export const KIND_OPTIONS: ReadonlyMap<string, TSchema | null> = new Map(
  Object.entries(KINDS).map(([kind, entry]) => [kind, typeof entry === 'function' ? null : entry.options]),
)
