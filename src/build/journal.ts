/**
 * What an unfinished month-by-month build has written, so that the next one goes on from there. A line is
 * added when a month's parts are safely on disk; the file is removed when the snapshot is published.
 */
import { appendFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../system/files.ts'
import { partFile, type PartEntry } from '../snapshot/format.ts'
import { TEMPORARY_PREFIX } from '../snapshot/write.ts'

export const JOURNAL_FILE = `${TEMPORARY_PREFIX}journal`

/** The lines for all months of eighty years have 0.3 MB. */
const MAX_BYTES = 2 ** 24

export class Journal {
  readonly #dir: string
  readonly #path: string
  readonly #months = new Map<string, PartEntry[]>()

  constructor(dir: string) {
    this.#dir = dir
    this.#path = join(dir, JOURNAL_FILE)
    for (const line of this.#lines()) {
      const entry = parseLine(line)
      if (entry !== null) this.#months.set(entry.key, entry.parts)
    }
  }

  /** A journal that cannot be read is removed: the next one has to be written. */
  #lines(): string[] {
    try {
      return readRegularFileSync(this.#path, MAX_BYTES).toString('utf8').split('\n')
    } catch {
      rmSync(this.#path, { recursive: true, force: true })
      return []
    }
  }

  /**
   * The parts of the month of this key, where they are still there; their bytes are checked like all others.
   */
  written(key: string): PartEntry[] | null {
    const parts = this.#months.get(key)
    return parts !== undefined && parts.every((part) => sizeOf(join(this.#dir, part.file)) === part.bytes)
      ? parts
      : null
  }

  add(key: string, parts: PartEntry[]): void {
    appendFileSync(this.#path, `${JSON.stringify({ key, parts })}\n`, { mode: 0o600 })
  }

  /** Part files that the next build counts on. */
  files(): Set<string> {
    return new Set([...this.#months.values()].flatMap((parts) => parts.map(({ file }) => file)))
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }
}

/** Null for a line that a kill cut short. */
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
