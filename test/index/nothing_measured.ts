/** Columns of a month in which nothing was measured: each is a single missing code. */
import type { MonthRows } from '../../src/index/segments.ts'
import { MEASURE_NAMES, MEASURES } from '../../src/sea/columns.ts'
import { missingColumn } from '../../src/sea/row-batch.ts'

export const NOTHING_MEASURED = Object.fromEntries(
  MEASURE_NAMES.map((name) => [name, { codes: missingColumn(MEASURES[name], 1), mask: 0 }]),
) as unknown as MonthRows['measures']
