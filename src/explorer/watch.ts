/**
 * Sees within seconds that the server has a new snapshot, where nothing else says so. It asks for the head of
 * the description, which names the snapshot and counts for no quota.
 */
import type { Api } from './api.ts'

const LOOK_MS = 5000

/**
 * Calls `onNew` for each snapshot that the page's answers are not of, once. Looks where `isNeeded` says so.
 */
export function watchSnapshot(api: Api, isNeeded: () => boolean, onNew: () => void): void {
  let seen: string | null = null
  const how: RequestInit & { cache: 'no-store' } = { method: 'HEAD', cache: 'no-store' }
  const look = async (): Promise<void> => {
    // Before the first answer there is nothing that could be old.
    if (document.visibilityState !== 'visible' || api.snapshot === null || !isNeeded()) return
    const answer = await fetch(api.address('/openapi.json'), how)
    const served = answer.headers.get('X-Snapshot-Id')
    if (served === null || served === api.snapshot || served === seen) return
    // Of several servers one may be behind: then the page's own refresh comes back to it.
    seen = served
    onNew()
  }
  // A server that cannot be reached is reported by the page's own calls.
  setInterval(() => void look().catch(() => {}), LOOK_MS)
}
