/** The report of a build as lines for a terminal. */
import type { ReportDocument } from './document.ts'
import { headLine, oneLine, tablesOf, unpublishedText } from './tables.ts'

export function reportLines(document: ReportDocument): string[] {
  const { snapshot, as_of: asOf, built_at: builtAt } = document
  return [
    `snapshot ${snapshot}, data as of ${asOf}, built ${builtAt}${unpublishedText(document)}`,
    headLine(document),
    ...tablesOf(document).flatMap(({ title, head, rows }) => {
      const lines = [head, ...rows].map((row) => row.map((cell) => oneLine(String(cell))))
      const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column].length)))
      return [
        '',
        title,
        ...lines.map((row) =>
          `  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`.trimEnd(),
        ),
      ]
    }),
  ]
}
