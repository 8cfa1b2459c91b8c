/** The snapshots that a worker holds, as views, and what distinguishes any two of them. */
import { openView, type ChangesSince, type IndexedSnapshot, type View } from '../dataset/view.ts'
import { warmUp } from './warm-up.ts'
import { reversed, type Changes } from '../snapshot/row-changes.ts'
import type { Steps } from '../system/steps.ts'

export interface WorkerViewsOptions {
  changes: readonly Changes[]
  /** Each step of getting a snapshot ready is a sign of life. */
  onStep: () => void
  serve: (held: readonly View[]) => void
}

export class WorkerViews {
  /** Between any two snapshots, one way round. */
  changes: readonly Changes[]
  readonly #options: WorkerViewsOptions
  /** By the ids of their snapshots, oldest first. */
  readonly #views = new Map<string, View>()
  /** The view that was got ready, until it is served. */
  #prepared: View | null = null
  #hasServed = false

  constructor(options: WorkerViewsOptions) {
    this.#options = options
    this.changes = options.changes
  }

  *openHeld(snapshot: IndexedSnapshot): Steps<void> {
    this.#views.set(snapshot.id, yield* this.#alive(this.#open(snapshot)))
  }

  /** Gets the snapshot ready that is served next. @throws SnapshotError */
  *prepare(snapshot: IndexedSnapshot): Steps<void> {
    const view = yield* this.#alive(this.#open(snapshot))
    yield* this.#alive(warmUp(view, !this.#hasServed))
    this.#prepared = view
  }

  discard(): void {
    this.#prepared = null
  }

  /** Takes over the prepared view, if there is one, and serves the last of `held`: ids, oldest first. */
  serve(held: readonly string[]): void {
    const views = this.#views
    if (this.#prepared !== null) views.set(this.#prepared.dataset.snapshotId, this.#prepared)
    this.#prepared = null
    for (const id of views.keys()) if (!held.includes(id)) views.delete(id)
    // A worker that has just come may have no views yet.
    if (held.length === 0) return
    this.#options.serve(held.map((id) => views.get(id)!))
    this.#hasServed = true
  }

  *#open(snapshot: IndexedSnapshot): Steps<View> {
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

  *#alive<T>(steps: Steps<T>): Steps<T> {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      this.#options.onStep()
      yield
    }
  }
}
