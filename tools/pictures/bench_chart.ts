/** The chart of the bench over HTTP: the figures of the table in `bench/README.md`, as bars. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const FIGURES_FILE = at('bench/README.md')

export type Theme = 'light' | 'dark'

/** Where the charts are committed. */
export const BENCH_CHARTS: { readonly [theme in Theme]: string } = {
  light: at('docs/images/bench-light.svg'),
  dark: at('docs/images/bench-dark.svg'),
}

interface Figures {
  /** Data, date and machine. */
  caption: string
  /** Requests a second as a share of those of the ceiling; 1 is as fast as the HTTP engine alone. */
  cases: { name: string; cold: number; hot: number }[]
}

/** The figures of a text like `bench/README.md`. @throws Error naming what the text lacks */
export function benchFigures(text: string): Figures {
  const results = /^### Results\n+([^]*)/m.exec(text)?.[1] ?? missing('section "Results"')
  const measured =
    /^\d{4}-\d\d-\d\d, .*?, Node [\d.]+/.exec(results)?.[0] ?? missing('date, machine and Node')
  const [, data, table] =
    /^\*\*([^*]+)\*\*[^|]*?\n\n((?:\|[^\n]*\n)+)/m.exec(results) ?? missing('table under a bold line')
  const [head, , ...rows] = table.trimEnd().split('\n').map(cellsOf)
  const column = (name: string): number => {
    const found = head.findIndex((cell) => cell === name)
    return found === -1 ? missing(`column "${name}"`) : found
  }
  const [name, cold, hot] = [column('Case'), column('cold (bar)'), column('hot')]
  return {
    caption: `${data}; ${measured}`,
    cases: rows.map((row) => ({ name: row[name], cold: share(row[cold]), hot: share(row[hot]) })),
  }
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** A share may be followed by its bar in brackets. */
function share(cell: string): number {
  const text = /^\d+\.\d+/.exec(cell)?.[0] ?? missing(`share in the cell "${cell}"`)
  return Number(text)
}

function missing(what: string): never {
  throw new Error(`bench/README.md has no ${what}, so the chart cannot be drawn`)
}

const COLORS = {
  light: {
    back: '#ffffff',
    text: '#12262f',
    muted: '#51646f',
    line: '#dde5ea',
    cold: '#0a6a8f',
    hot: '#e0a458',
  },
  dark: {
    back: '#13212b',
    text: '#e6eef2',
    muted: '#a3b5c0',
    line: '#2c3f4b',
    cold: '#5cc0e6',
    hot: '#c98a3c',
  },
} as const

const BAR_PIXELS = 8
const GROUP_PIXELS = 2 * BAR_PIXELS + 7
const LEFT_PIXELS = 150
const TOP_PIXELS = 92
/** From share 0 to share 1. */
const SHARE_PIXELS = 560
const WIDTH_PIXELS = LEFT_PIXELS + SHARE_PIXELS * 1.1 + 40
/** Room for the caption below the bars. */
const BOTTOM_PIXELS = 56

/** The chart as SVG. */
export function benchChart(theme: Theme): string {
  const { caption, cases } = benchFigures(readFileSync(FIGURES_FILE, 'utf8'))
  const colors = COLORS[theme]
  const height = TOP_PIXELS + cases.length * GROUP_PIXELS + BOTTOM_PIXELS
  const parts = [
    rectangle(0, 0, WIDTH_PIXELS, height, colors.back),
    label(16, 28, 'Requests per second, as a share of the bare HTTP engine', colors.text, 'font-size="17"'),
    label(16, 48, '1 is the engine sending a constant of the same size. Higher is better.', colors.muted),
    ...legend(colors),
    ...scale(height, colors),
    ...cases.flatMap((each, i) => bars(each, TOP_PIXELS + i * GROUP_PIXELS, colors)),
    label(16, height - 14, `${caption}; cases and method: bench/README.md`, colors.muted),
  ]
  const attributes = [
    'xmlns="http://www.w3.org/2000/svg"',
    `viewBox="0 0 ${WIDTH_PIXELS} ${height}" width="${WIDTH_PIXELS}" height="${height}"`,
    'font-family="system-ui, sans-serif" font-size="12" role="img"',
  ]
  return `${[
    `<svg ${attributes.join(' ')}>`,
    `<title>Requests per second of groundswell as a share of the bare HTTP engine, by operation</title>`,
    ...parts,
    '</svg>',
  ].join('\n')}\n`
}

type Colors = (typeof COLORS)[Theme]

function legend(colors: Colors): string[] {
  const entries = [
    ['cold', 'computed for each request'],
    ['hot', 'repeated requests, from the answer cache'],
  ] as const
  return entries.flatMap(([key, text], i) => {
    const x = LEFT_PIXELS + i * 260
    return [rectangle(x, 62, 10, 10, colors[key]), label(x + 16, 71, `${key}: ${text}`, colors.text)]
  })
}

function scale(height: number, colors: Colors): string[] {
  return [0, 0.25, 0.5, 0.75, 1].flatMap((mark) => {
    const x = LEFT_PIXELS + mark * SHARE_PIXELS
    const [top, bottom] = [TOP_PIXELS - 6, height - BOTTOM_PIXELS + 2]
    return [
      `<path d="M${x} ${top}V${bottom}" stroke="${colors.line}"/>`,
      label(x, bottom + 13, String(mark), colors.muted, 'text-anchor="middle"'),
    ]
  })
}

function bars({ name, cold, hot }: Figures['cases'][number], y: number, colors: Colors): string[] {
  const bar = (value: number, top: number, color: string): string[] => {
    const width = value * SHARE_PIXELS
    const end = LEFT_PIXELS + width + 5
    return [
      rectangle(LEFT_PIXELS, top, width, BAR_PIXELS, color),
      label(end, top + BAR_PIXELS - 0.5, value.toFixed(2), colors.muted, 'font-size="9"'),
    ]
  }
  return [
    label(LEFT_PIXELS - 8, y + BAR_PIXELS + 4, name, colors.text, 'text-anchor="end"'),
    ...bar(cold, y, colors.cold),
    ...bar(hot, y + BAR_PIXELS + 1, colors.hot),
  ]
}

const rectangle = (x: number, y: number, width: number, height: number, fill: string): string =>
  `<rect x="${x}" y="${y}" width="${Number(width.toFixed(1))}" height="${height}" fill="${fill}"/>`

const label = (x: number, y: number, text: string, fill: string, more = ''): string =>
  `<text x="${Number(x.toFixed(1))}" y="${y}" fill="${fill}" ${more}>${escaped(text)}</text>`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
