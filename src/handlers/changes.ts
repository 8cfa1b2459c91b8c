/**
 * `GET /changes`: a copy that asks since the `until` of its last answer stays equal to the data. The thread
 * of long answers makes all of it.
 */
import { EXTRA_GROUPS } from '../dataset/reading-json.ts'
import { pageParameters } from '../operation/filters.ts'
import { operation } from '../operation/operation.ts'
import { text, wordSet } from '../operation/parameters.ts'

export const MAX_PER_PAGE = 1000
/** The word of `include` for the readings themselves. */
export const READINGS = 'readings'

export const parameters = {
  since: text({
    required: true,
    pattern: '^[0-9a-f]{24}$',
    allowed: 'the id of a snapshot, as X-Snapshot-Id names it',
    description: 'The snapshot to compare with: the `until` of the last answer, or an `X-Snapshot-Id`.',
  }),
  include: wordSet({
    values: [READINGS, ...EXTRA_GROUPS],
    needed: READINGS,
    description:
      'With `readings` the answer also has the readings themselves, in pages; together with it, `peak_period` and `wind` add members to them.',
  }),
  ...pageParameters(500, MAX_PER_PAGE),
}

export const listChanges = operation({
  name: 'listChanges',
  path: '/changes',
  access: 'keyed',
  summary: 'What has changed since a snapshot',
  parameters,
  refusal: 'bad_request',
  comparesWith: 'since',
  errors: ['bad_request'],
})
