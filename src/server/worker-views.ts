/** The snapshots that a worker holds: how it takes a new one over. */
import { OpenedViews } from '../dataset/opened-views.ts'
import type { IndexedSnapshot, View } from '../dataset/view.ts'
import { warmUp } from './warm-up.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import type { Steps } from '../system/steps.ts'

export interface WorkerViewsOptions {
  changes: readonly Changes[]
  /** Each step of getting a snapshot ready is a sign of life. */
  onStep: () => void
  serve: (held: readonly View[]) => void
}

export class WorkerViews {
  readonly #options: WorkerViewsOptions
  readonly #views: OpenedViews
  /** The view that was got ready, until it is served. */
  #prepared: View | null = null
  #hasServed = false

  constructor(options: WorkerViewsOptions) {
    this.#options = options
    this.#views = new OpenedViews(options.changes)
  }

  set changes(changes: readonly Changes[]) {
    this.#views.changes = changes
  }

  *openHeld(snapshot: IndexedSnapshot): Steps<void> {
    this.#views.add(yield* this.#alive(this.#views.open(snapshot)))
  }

  /** Gets the snapshot ready that is served next. @throws SnapshotError */
  *prepare(snapshot: IndexedSnapshot): Steps<void> {
    const view = yield* this.#alive(this.#views.open(snapshot))
    yield* this.#alive(warmUp(view, !this.#hasServed))
    this.#prepared = view
  }

  discard(): void {
    this.#prepared = null
  }

  /** Takes over the prepared view, if there is one, and serves the last of `held`: ids, oldest first. */
  serve(held: readonly string[]): void {
    if (this.#prepared !== null) this.#views.add(this.#prepared)
    this.#prepared = null
    const views = this.#views.hold(held)
    // A worker that has just come may have no views yet.
    if (held.length === 0) return
    this.#options.serve(views)
    this.#hasServed = true
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
