/** A loaded snapshot in memory: indexed once for all threads, then opened as a view. */
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import { type Changes, reversed } from '../snapshot/row-changes.ts'
import type { Steps } from '../system/steps.ts'
import { type Dataset, type Indexes, openDataset, openParts } from './dataset.ts'
import { type IndexedFragments, type OpenedFragments, openFragments } from './fragments.ts'

/** Plain, so that it can be posted to workers, which see the same bytes (`server/index-snapshot.ts`). */
export interface IndexedSnapshot extends LoadedSnapshot {
  readonly indexes: Indexes
  readonly fragments: IndexedFragments
}

/** A snapshot that is opened: what one thread answers from. */
export interface View {
  readonly dataset: Dataset
  readonly fragments: OpenedFragments
  /** Null when the server does not hold the other snapshot. */
  readonly changesSince?: (id: string) => ChangesSince | null
}

export interface ChangesSince {
  readonly changes: Changes
  readonly before: Dataset
}

/** Takes over equal parts from `before`. @throws SnapshotError for a missing or malformed part */
export function* openView(snapshot: IndexedSnapshot, before: Dataset | null = null): Steps<View> {
  const dataset = openDataset(snapshot, yield* openParts(snapshot, before?.parts), snapshot.indexes)
  yield
  return { dataset, fragments: yield* openFragments(snapshot.fragments) }
}

/** The snapshots that a thread holds, as views, and what distinguishes any two of them. */
export class OpenedViews {
  /** Between any two snapshots, in one direction. */
  changes: readonly Changes[]
  /** By the ids of their snapshots, oldest first. */
  readonly #views = new Map<string, View>()

  constructor(changes: readonly Changes[]) {
    this.changes = changes
  }

  get(id: string): View | undefined {
    return this.#views.get(id)
  }

  add(view: View): void {
    this.#views.set(view.dataset.snapshotId, view)
  }

  /** Releases all but `ids`. @returns their views */
  hold(ids: readonly string[]): View[] {
    for (const id of this.#views.keys()) {
      if (!ids.includes(id)) this.#views.delete(id)
    }
    this.changes = this.changes.filter(({ since, until }) => ids.includes(since) && ids.includes(until))
    return ids.map((id) => this.#views.get(id)!)
  }

  /** Opens a snapshot, without holding it yet. @throws SnapshotError */
  *open(snapshot: IndexedSnapshot): Steps<View> {
    const newest = [...this.#views.values()].at(-1)?.dataset ?? null
    const opened = yield* openView(snapshot, newest)
    return { ...opened, changesSince: (id) => this.#changesTo(snapshot.id, id) }
  }

  /** Null where one of the snapshots is not held. */
  #changesTo(until: string, since: string): ChangesSince | null {
    const before = this.#views.get(since)?.dataset
    if (before === undefined) return null
    const known = this.changes.find((one) => one.since === since && one.until === until)
    if (known !== undefined) return { changes: known, before }
    const other = this.changes.find((one) => one.since === until && one.until === since)
    return other === undefined ? null : { changes: reversed(other), before }
  }
}
