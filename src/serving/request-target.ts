/** What a route leads to. */
import type { Operation, StreamOperation } from '../answers/operation.ts'
import type { QueryReader } from '../answers/query.ts'

export interface StreamTarget {
  operation: null
  stream: StreamOperation
  index: number
  reader: QueryReader<StreamOperation['parameters']>
  /** Names of parameters that `X-Ignored-Parameters` may have. */
  ignorable: ReadonlySet<string>
}

export interface Target {
  operation: Operation
  stream: null
  /** Its ordinal among the operations. */
  index: number
  reader: QueryReader<Operation['parameters']>
  ignorable: ReadonlySet<string>
}
