/** Suggests a known word for one that was misspelt. */

/** A word with more slips than these is not taken for a misspelt one. */
const MAX_SLIPS = 2

/**
 * The word of `known` that is nearest to `written`, as `, did you mean "…"?`. Empty where none is near.
 */
export function suggestion(written: string, known: readonly string[]): string {
  const word = written.toLowerCase()
  const [best] = known
    .map((one) => ({ one, slips: one.startsWith(word) && word.length > 1 ? 0.5 : slips(word, one) }))
    .filter(({ one, slips }) => slips <= MAX_SLIPS && slips < one.length / 2)
    .toSorted((a, b) => a.slips - b.slips)
  return best === undefined ? '' : `, did you mean "${best.one}"?`
}

/**
 * The number of letters left out, put in, replaced or swapped with the next one (Damerau and Levenshtein).
 */
function slips(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      row[j] = Math.min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (same ? 0 : 1))
      const areSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (areSwapped) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1)
    }
    rows.push(row)
  }
  return rows[a.length][b.length]
}
