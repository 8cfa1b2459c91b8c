/**
 * What an unfinished month-by-month build has written, so that the next one goes on from there. A line is added when a month's parts
 * are safely on disk; the file goes when the snapshot is announced.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { partFile, type PartEntry } from './format.ts'
import { TEMPORARY_PREFIX } from './write.ts'

export const JOURNAL_FILE = `${TEMPORARY_PREFIX}journal`

export class Journal {
  readonly #dir: string
  readonly #path: string
  readonly #months = new Map<string, PartEntry[]>()

  constructor(dir: string) {
    this.#dir = dir
    this.#path = join(dir, JOURNAL_FILE)
    if (!existsSync(this.#path)) return
    for (const line of readFileSync(this.#path, 'utf8').split('\n')) {
      const entry = parseLine(line)
      if (entry !== null) this.#months.set(entry.key, entry.parts)
    }
  }

  /** The parts of a month that was written under this very key and is still there whole; their bytes are checked with all others'. */
  written(key: string): PartEntry[] | null {
    const parts = this.#months.get(key)
    return parts !== undefined && parts.every((part) => sizeOf(join(this.#dir, part.file)) === part.bytes)
      ? parts
      : null
  }

  add(key: string, parts: PartEntry[]): void {
    appendFileSync(this.#path, `${JSON.stringify({ key, parts })}\n`, { mode: 0o600 })
  }

  /** Part files that the next build may count on. */
  files(): Set<string> {
    return new Set([...this.#months.values()].flatMap((parts) => parts.map(({ file }) => file)))
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }
}

/** A line that was cut short by a kill is as if it had not been written. */
function parseLine(line: string): { key: string; parts: PartEntry[] } | null {
  try {
    const { key, parts } = JSON.parse(line) as { key: string; parts: PartEntry[] }
    const whole =
      typeof key === 'string' && parts.every((part) => part.file === partFile(part.kind, part.sha256))
    return whole ? { key, parts } : null
  } catch {
    return null
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1
}
