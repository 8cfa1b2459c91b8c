/** What the request path is made from. */
import type { Operation, StreamOperation } from '../answers/operation.ts'
import type { AdmissionOptions } from './admission.ts'
import type { EventStreams } from './event-streams.ts'
import type { ExpensiveAnswers } from './expensive-answers.ts'
import type { ExportedAnswers } from './exported-answers.ts'
import type { LeaseWaits } from './lease-waits.ts'
import type { ServedOptions } from './served.ts'
import type { Site } from './site.ts'

export interface RequestPathOptions extends AdmissionOptions, ServedOptions {
  operations: readonly Operation[]
  basePath: string
  /** Seconds between two scheduled builds, which begin at multiples of it; 0 where none are scheduled. */
  refreshEvery: number
  /** Makes expensive answers in slices; null where nobody waits meanwhile, and all are made at once. */
  expensive: ExpensiveAnswers | null
  /** Has answers written on another thread. */
  exported: ExportedAnswers
  /** What is answered with streams of events; without it there are none. */
  stream?: { operation: StreamOperation; streams: EventStreams }
  /** Pages and their files, beside the operations. */
  site?: Site
  /** Where several replicas share the quotas: holds requests that find none of theirs leased. */
  leases?: LeaseWaits
  /** The clock, epoch seconds with a fraction. */
  clock: () => number
  /** Gets faults of our own; never a key or a query. */
  onFault: (error: unknown, operation: string) => void
}
