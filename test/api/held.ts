/** Snapshots that are served in this process, with the changes between those that are held. */
import type { View } from '../../src/dataset/view.ts'
import { changesBetween } from '../../src/snapshot/compare-snapshots.ts'
import type { LoadedSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { finish } from '../../src/system/steps.ts'
import { AskedPath, KEY, openedOf, type Answered } from '../answered.ts'

const DAY = 86_400

export interface Held {
  id: string
  loaded: LoadedSnapshot
  view: View
}

export class HeldSnapshots {
  held: Held[] = []
  readonly #most: number
  #path: AskedPath | null = null

  /** `most` are held. */
  constructor(most: number) {
    this.#most = most
  }

  opened(loaded: LoadedSnapshot): Held {
    const changesSince: View['changesSince'] = (since) => {
      const before = this.held.find(({ id }) => id === since)
      if (before === undefined) return null
      return {
        changes: finish(changesBetween(before.loaded, loaded, DAY)),
        before: before.view.dataset,
      }
    }
    return { id: loaded.id, loaded, view: { ...openedOf(loaded, DAY), changesSince } }
  }

  /** Makes one after the other the current snapshot. */
  publish(...snapshots: Held[]): void {
    for (const next of snapshots)
      this.held = [...this.held.filter(({ id }) => id !== next.id), next].slice(-this.#most)
    const views = this.held.map(({ view }) => view)
    this.#path ??= new AskedPath(views[0])
    this.#path.path.hold(views, this.#most)
  }

  /** From the root of the server. */
  get(target: string, authorization = `Bearer ${KEY}`): Promise<Answered & { isLater: boolean }> {
    return this.#path!.getLater(target, { authorization })
  }

  /** Answers as a server would. */
  readonly fetch = async (address: string | Request, init?: RequestInit): Promise<Response> => {
    const { url, signal, headers: asked } = new Request(address, init)
    signal.throwIfAborted()
    const { pathname, search } = new URL(url)
    const authorization = asked.get('authorization') ?? ''
    const { status, headers, text } = await this.get(pathname + search, authorization)
    return new Response(text, { status, headers })
  }
}
