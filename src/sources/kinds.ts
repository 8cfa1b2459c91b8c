/** Every source kind by its name in `--source KIND:ARGUMENT`. */
import { openAltimetry } from './altimetry.ts'
import { openCandhis } from './candhis.ts'
import { openCsv } from './csv.ts'
import { openDemo } from './demo.ts'
import { openForecast } from './forecast.ts'
import { openNdbc } from './ndbc.ts'
import { BuildError, type OpenSource, type Source } from './source.ts'
import { openTides } from './tides.ts'

const KINDS: { readonly [kind: string]: OpenSource } = {
  ndbc: openNdbc,
  candhis: openCandhis,
  altimetry: openAltimetry,
  csv: openCsv,
  forecast: openForecast,
  tides: openTides,
  demo: openDemo,
}

/** @throws BuildError for an unknown kind or an argument that the kind refuses. */
export function openSource(kind: string, argument: string): Source {
  const open = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (open === undefined) {
    throw new BuildError(`--source: unknown kind "${kind}", known are ${Object.keys(KINDS).join(', ')}`)
  }
  return open(argument)
}
