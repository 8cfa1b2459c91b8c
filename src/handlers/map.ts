/** `GET /buoys/map`: all active buoys, or all, unpaged; the word beats a slug `map`. */
import { boxOf, boxParameters, includeOfBuoys, latestFilter, latestFilters } from '../operation/filters.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { FORMATS } from '../operation/shape.ts'
import { operation } from '../operation/operation.ts'
import { boolean, type QueryOf } from '../operation/parameters.ts'

const parameters = {
  ...boxParameters,
  ...latestFilters,
  active_only: boolean({ default: true, description: 'Only buoys with a recent reading.' }),
  include: includeOfBuoys,
}

export const mapBuoys = operation({
  name: 'mapBuoys',
  path: '/buoys/map',
  access: 'keyed',
  summary: 'All active buoys for a map',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer({ dataset, fragments }, query) {
    const ordinals = within(dataset, query)
    fragments.writer.text('{"buoys":[')
    fragments.map.writeList(ordinals, 0, ordinals.length)
    fragments.writer.text(`]${countsText(dataset, ordinals)},"decimals":`)
    fragments.writer.copy(fragments.decimals.from, fragments.decimals.to)
    fragments.writer.text('}')
  },
  tables: { formats: FORMATS, isList: true },
})

function within(dataset: Dataset, query: QueryOf<typeof parameters>): ArrayLike<number> {
  const { active, boxes, groups } = dataset
  const { active_only: isActiveOnly } = query
  const filter = latestFilter(dataset, query)
  const box = boxOf(query)
  if (box === null) {
    const all = isActiveOnly ? groups.everywhere.active : groups.everywhere.all
    return filter === null ? all : all.filter(filter)
  }
  const isTaken = (ordinal: number): boolean =>
    (!isActiveOnly || active[ordinal] === 1) && (filter === null || filter(ordinal))
  return boxes.within(box, isTaken)
}

function countsText(dataset: Dataset, ordinals: ArrayLike<number>): string {
  const { virtual: isVirtual } = dataset.catalog
  const count = ordinals.length
  let virtual = 0
  for (let i = 0; i < count; i++) virtual += isVirtual[ordinals[i]]
  return `,"count":${count},"real_count":${count - virtual},"virtual_count":${virtual}`
}
