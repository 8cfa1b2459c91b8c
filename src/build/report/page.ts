/** The report of a build as a page that needs nothing else and runs no script. */
import type { ReportDocument } from './document.ts'
import { headLine, oneLine, tablesOf, unpublishedText } from './tables.ts'

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(value: string | number): string {
  return oneLine(String(value)).replace(/[&<>"']/g, (character) => ENTITIES[character])
}

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color-scheme:light dark}' +
  'table{border-collapse:collapse;margin:.5rem 0 1.5rem;display:block;overflow-x:auto}' +
  'th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8886;vertical-align:top}' +
  'td.n{text-align:right;font-variant-numeric:tabular-nums}'

export function reportPage(document: ReportDocument): string {
  const { snapshot, as_of: asOf, built_at: builtAt } = document
  const cell = (value: string | number): string =>
    typeof value === 'number' ? `<td class="n">${value}</td>` : `<td>${escaped(value)}</td>`
  const tables = tablesOf(document).map(
    ({ title, head, rows }) =>
      `<h2>${escaped(title)}</h2>\n<table>\n<thead><tr>${head.map((name) => `<th scope="col">${escaped(name)}</th>`).join('')}</tr></thead>\n` +
      `<tbody>\n${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}\n</tbody>\n</table>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Build of snapshot ${escaped(snapshot)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Build of snapshot ${escaped(snapshot)}</h1>
<p>Data as of ${escaped(asOf)}, built ${escaped(builtAt)}${unpublishedText(document)}: ${escaped(headLine(document))}.</p>
${tables.join('\n')}
</body>
</html>
`
}
