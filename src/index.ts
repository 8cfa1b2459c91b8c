/**
 * What `import … from 'groundswell'` gives: a server in this process, and a reader of the snapshots that a
 * builder publishes. The rest of the package is the program's own, and changes without notice.
 */
export { openSnapshot } from './library/reader.ts'
export type { Buoy, Reading, ReadingRange, Snapshot } from './library/reader.ts'
export { startServer } from './library/server.ts'
export type { Server, ServerOptions } from './library/server.ts'
