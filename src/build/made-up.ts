/**
 * Made-up data and measured ones stay apart. A snapshot of a demo is marked for good; measured data never
 * take its rows over, and a demo never comes upon measured ones by itself.
 */
import type { Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import type { Base, Previous } from './base.ts'
import type { BuildOptions } from './options.ts'

/** The credits of demos that were built before manifests had a mark. */
const MADE_UP_CREDIT = /made up, not measured/i

/** Whether a snapshot of these sources is to be marked. */
export function isMadeUp(sources: readonly Source[]): boolean {
  return sources.some((source) => source.isMadeUp === true)
}

/**
 * What a build goes upon, once what may not be mixed with its sources is left out: measured data upon a demo
 * start over, with the folder's ids and slugs alone.
 * @throws BuildError for a demo upon measured data, unless the build is fresh
 */
export function keptApart({ sources, out, fresh = false, report }: BuildOptions, base: Base): Base {
  const { folder } = base
  if (folder === null || isMadeUp(sources) === holdsMadeUp(folder)) return base
  if (!isMadeUp(sources)) {
    report.warn(`${out} holds a demo: none of its made-up data are kept, the sources start over`)
    return { ...base, folder: null, previous: null, states: null }
  }
  if (fresh) return base
  throw new BuildError(
    `${out} holds measured data, and the demo's would be mixed with them: name the folder's sources, or give the demo a folder of its own`,
  )
}

function holdsMadeUp({ manifest, catalog: { sources } }: Previous): boolean {
  return (
    manifest.demo === true ||
    (sources.length > 0 && sources.every(({ credit }) => MADE_UP_CREDIT.test(credit ?? '')))
  )
}
