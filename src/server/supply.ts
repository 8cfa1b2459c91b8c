/** Where the snapshots that a server serves come from: a folder, and what fills it. */
import { watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { MANIFEST_FILE, type Manifest } from '../snapshot/manifest.ts'
import type { Mirror } from '../snapshot/mirror/mirror.ts'
import { readManifest, type PublishedManifest } from '../snapshot/read-snapshot.ts'
import { buildStatus, type ScheduleState } from './build-schedule.ts'

/** Time between two looks at the folder. A watch on it usually notices sooner. */
const POLL_INTERVAL_MS = 1000
/** A start and a reload wait this long for a mirror, and then go on with what its folder has. */
const PATIENCE_MS = 10_000

/** `again`: there may be another snapshot, or what was refused may be whole by now. */
type OnNews = (again: boolean) => void

export interface Supply {
  /** Whether the port opens only when there is a snapshot; else it answers 503 until then. */
  readonly waits: boolean
  /** Whether a demo is what the operator asks for, one snapshot like others, or not served. */
  readonly demo: 'expected' | 'accepted' | 'refused'
  /** Seconds between scheduled builds, which begin at multiples of it; 0 where none are scheduled. */
  readonly refreshEvery: number
  /**
   * Ends before the first look: a build, or a moment for the first transfer. Then `onShown` gets each
   * manifest that is still to be transferred. May reject.
   */
  first(onShown: (manifest: Manifest) => void): Promise<void>
  /** The snapshot to serve; null where there is none. @throws SnapshotError, or a fault of the folder */
  look(): Promise<PublishedManifest | null>
  /** Brings the newest snapshot to where `look` finds it. */
  fetch(): Promise<void>
  /** Follows from then on, until `signal` is aborted; missing where there is one snapshot for ever. */
  follow?(this: void, onNews: OnNews, signal: AbortSignal): void
  /** The server has refused this snapshot, which may be damaged. */
  refused(id: string): void
  status(): SupplyStatus
  stop(): Promise<void>
}

export interface SupplyStatus {
  /** Members of `/status`. */
  readonly members: object
  /** Null where this process starts no builds. */
  readonly builds: ScheduleState | null
  /** Whether the last look at the source of a mirror reached it; null without a mirror. */
  readonly isUp: boolean | null
}

/** Whether the server takes a snapshot: made-up data never stand in for those that the operator asks for. */
export const accepts = ({ demo }: Supply, manifest: { readonly demo?: boolean }): boolean =>
  demo !== 'refused' || manifest.demo !== true

/** The snapshots that anybody publishes in a folder. */
export function folderSupply(dir: string): Supply & Required<Pick<Supply, 'follow'>> {
  return {
    waits: false,
    demo: 'accepted',
    refreshEvery: 0,
    first: () => Promise.resolve(),
    look: () => readManifest(dir),
    fetch: () => Promise.resolve(),
    follow(onNews, signal) {
      const timer = setInterval(onNews, POLL_INTERVAL_MS, false)
      signal.addEventListener('abort', () => clearInterval(timer))
      try {
        const watcher = watch(dir, { signal }, (_event, file) => {
          if (file === MANIFEST_FILE) onNews(false)
        })
        watcher.on('error', () => watcher.close())
      } catch {
        // Some file systems cannot be watched. Polling is enough then.
      }
    },
    refused: () => {},
    status: () => ({ members: {}, builds: null, isUp: null }),
    stop: () => Promise.resolve(),
  }
}

/** One snapshot that the folder keeps, and no other one. */
export function fixedSupply(dir: string, manifest: PublishedManifest): Supply {
  const { follow: _, ...folder } = folderSupply(dir)
  return { ...folder, look: () => Promise.resolve(manifest) }
}

/** A folder that a mirror fills. */
export function mirrorSupply(dir: string, mirror: Mirror): Supply {
  const folder = folderSupply(dir)
  const patiently = (fetched: Promise<void>): Promise<void> =>
    Promise.race([fetched, sleep(PATIENCE_MS, undefined, { ref: false })])
  return {
    ...folder,
    waits: true,
    first(onShown) {
      mirror.onShown = onShown
      return patiently(mirror.start())
    },
    fetch: () => patiently(mirror.look(true)),
    follow(onNews, signal) {
      folder.follow(onNews, signal)
      mirror.onPublished = () => onNews(true)
    },
    refused: (id) => mirror.refused(id),
    status: () => ({ members: { mirror: mirror.status() }, builds: null, isUp: mirror.isUp() }),
    stop: () => mirror.stop(),
  }
}

interface ScheduledBuilds {
  /** Seconds between builds; 0 where only the first snapshot is built. */
  readonly every: number
  /** Seconds that a build may take. */
  readonly limit: number
  readonly demo: Supply['demo']
  /** The build of the first snapshot, where there is none yet. */
  readonly first: Promise<void>
  /** Null before builds are scheduled. */
  readonly state: () => ScheduleState | null
}

/** A folder into which this process builds. */
export function buildSupply(dir: string, { every, limit, demo, first, state }: ScheduledBuilds): Supply {
  return {
    ...folderSupply(dir),
    demo,
    refreshEvery: every,
    first: () => first,
    status() {
      const builds = state()
      return { members: builds === null ? {} : { build: buildStatus(builds, limit) }, builds, isUp: null }
    },
  }
}
