/** The operator's options for the tables of a folder, and what a column of them may mean. */
import { MEASURE_NAMES, type MeasureName } from '../../sea/columns.ts'
import type { Network } from '../../sea/records.ts'

/** The operator's options for the tables of a folder. */
export interface ErddapOptions {
  /** Name of the network, as on the wire. */
  source?: string
  network?: Network
  /** Measures by the names of their columns, before all other rules. */
  columns?: { [label: string]: MeasureName | 'meanPeriod' | 'none' }
  /** Good flags, by the names of flag columns. */
  flags?: { [label: string]: (number | string)[] }
}

/** JSON schema (draft 7) of `ErddapOptions`. */
export const ERDDAP_OPTIONS: { readonly [keyword: string]: unknown } = {
  type: 'object',
  additionalProperties: false,
  properties: {
    source: { type: 'string', minLength: 1, maxLength: 100, pattern: '^[^\\x00-\\x1f"]+$' },
    network: { enum: ['national', 'coastal'] },
    columns: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: { enum: [...MEASURE_NAMES, 'meanPeriod', 'none'] },
    },
    flags: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: { type: ['number', 'string'], maxLength: 50 },
      },
    },
  },
}

/** The meaning of a column: a measure, or the mean period that may stand in for one. */
export type Quantity = MeasureName | 'meanPeriod'
