/** What the doctor finds. */

/** `advice`: a start works, and something is worth doing. `impossible`: it fails, or serves nothing. */
export type Level = 'ok' | 'advice' | 'impossible'

export interface Finding {
  readonly check: string
  readonly level: Level
  /** What was found. */
  readonly found: string
  /** What to do; null where there is nothing to do. */
  readonly advice: string | null
}

export const ok = (check: string, found: string): Finding => ({ check, level: 'ok', found, advice: null })

export const advise = (check: string, found: string, advice: string): Finding => ({
  check,
  level: 'advice',
  found,
  advice,
})

export const impossible = (check: string, found: string, advice: string): Finding => ({
  check,
  level: 'impossible',
  found,
  advice,
})

/** The text of an error, for a finding. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Bytes for people, in powers of two. */
export function sizeText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  const value = bytes / 1024 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`
}
