/**
 * Exports of `groundswell`: a server in this process, and a reader of the snapshots that a builder publishes.
 * The rest of the package is the program's own, and changes without notice.
 */
export { openSnapshot } from './server/open-snapshot.ts'
export type { Buoy, Reading, ReadingRange, Snapshot } from './server/open-snapshot.ts'
export { startServer } from './server/start-server.ts'
export type { Server, ServerOptions } from './server/start-server.ts'
