/** What the browser keeps for the visitor. It may forbid that; then it lasts as long as the page. */

interface TextStorage {
  getItem(name: string): string | null
  setItem(name: string, text: string): void
}

/** @throws where the browser forbids it, and outside of browsers */
const storage = (): TextStorage => (globalThis as unknown as { localStorage: TextStorage }).localStorage

/** Texts that the browser would not take. */
const instead = new Map<string, string>()

/** The text that was kept under a name, or ''. */
export function keptText(name: string): string {
  try {
    return instead.get(name) ?? storage().getItem(name) ?? ''
  } catch {
    return ''
  }
}

export function keepText(name: string, text: string): void {
  try {
    storage().setItem(name, text)
    instead.delete(name)
  } catch {
    // Storage is blocked, or full.
    instead.set(name, text)
  }
}
