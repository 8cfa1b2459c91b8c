/** What a manifest says of a part of which only the kind and the rows matter. */
import type { PartEntry } from '../../src/snapshot/snapshot-format.ts'

export const entryOf = (kind: PartEntry['kind'], rows: number, more: Partial<PartEntry> = {}): PartEntry => ({
  kind,
  file: `${kind}-0.msgpack`,
  bytes: 0,
  sha256: '',
  rows,
  month: null,
  ...more,
})
