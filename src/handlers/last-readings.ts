/**
 * Operation 3, `GET /buoys/last_readings`: in the order asked for, each buoy once. Only the first `limit`
 * supplied ids are processed, repeats counted; ids past them are neither answered nor missing.
 */
import type { Dataset } from '../dataset/dataset.ts'
import { SPECTRUM } from '../dataset/reading-json.ts'
import { FORMATS } from '../operation/shape.ts'
import { Literal } from '../dataset/literals.ts'
import { operation } from '../operation/operation.ts'
import { BUOY_GROUPS } from '../dataset/usual.ts'
import { INCLUDED } from '../operation/filters.ts'
import { integer, integerList, wordSet } from '../operation/parameters.ts'

const BUOYS = new Literal('{"buoys":[')
const MISSING = new Literal('],"missing_ids":[')
const END = new Literal(']}')
/** More than the name takes, and a number with its comma. */
const MISSING_BYTES = 32
const ID_BYTES = 20
/** The most ids that are processed. */
const MAX_LIMIT = 100
/** Ordinals that were found, one list for all requests of a thread. */
const ordinals = new Uint32Array(MAX_LIMIT)

export const lastReadings = operation({
  name: 'lastReadings',
  path: '/buoys/last_readings',
  access: 'keyed',
  summary: 'Latest reading of several buoys',
  parameters: {
    ids: integerList({
      required: true,
      description: 'Buoy ids: `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2` or a mixture.',
    }),
    limit: integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      default: 3,
      description: 'Only this many of the ids are processed.',
    }),
    include: wordSet({
      values: [...BUOY_GROUPS, SPECTRUM],
      description: `${INCLUDED} With \`usual\` the buoy has how its last height compares with those of the same time of the year, with \`spectrum\` its newest wave spectrum without the bands.`,
    }),
  },
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer(view, { ids, limit }) {
    const { writer, lastReading } = view.fragments
    const missing: number[] = []
    const found = find(view.dataset, ids, limit, missing)
    writer.literal(BUOYS)
    lastReading.writeList(ordinals, 0, found)
    writer.ensure(MISSING_BYTES + missing.length * ID_BYTES)
    writer.literal(MISSING)
    for (let i = 0; i < missing.length; i++) {
      if (i > 0) writer.comma()
      writer.integer(missing[i])
    }
    writer.literal(END)
  },
  tables: { formats: FORMATS, isList: true },
})

/** Finds the buoys in `ordinals`. @returns how many */
function find(dataset: Dataset, ids: readonly number[], limit: number, missing: number[]): number {
  let found = 0
  const end = Math.min(limit, ids.length)
  for (let i = 0; i < end; i++) {
    const id = ids[i]
    // A look through the list is cheaper than a set.
    if (ids.indexOf(id) !== i) continue
    const ordinal = dataset.ordinalOfId(id)
    if (ordinal === -1) missing.push(id)
    else ordinals[found++] = ordinal
  }
  return found
}
