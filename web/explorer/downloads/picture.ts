/**
 * A chart as a PNG: drawn anew as wide as a page, whatever the width of the panel, in the colours of the
 * page, with the title, the legend with units, and the credit that the page has around it.
 */
import { variable } from '../theme.ts'
import type { Picture } from './offers.ts'

/** All in CSS pixels. */
const WIDTH = 960
const MARGIN = 24
const TITLE = { size: 22, line: 30 }
const SUBTITLE = { size: 14, line: 24 }
const LEGEND = { size: 13, line: 28, gap: 18, mark: 18, markGap: 6 }
const CREDIT = { size: 12, line: 18 }
const SPACE = 12

interface DrawnPlot {
  canvas: HTMLCanvasElement
  name: string
  lines: { label: string; color: string }[]
}

/** @throws Error where the browser gives no picture, as for want of memory */
export async function pictureOf(picture: Picture): Promise<Blob> {
  const place = document.createElement('div')
  place.className = 'plots'
  place.inert = true
  place.style.cssText = `display: block; position: fixed; left: -10000px; top: 0; width: ${WIDTH - 2 * MARGIN}px`
  document.body.append(place)
  const remove = picture.draw(place)
  let canvas: HTMLCanvasElement
  try {
    canvas = compose(picture, plotsIn(place))
  } finally {
    remove()
    place.remove()
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)), 'image/png')
  })
}

function plotsIn(place: HTMLElement): DrawnPlot[] {
  return [...place.querySelectorAll<HTMLElement>('.uplot')].map((plot) => {
    const { name = '', unit = '' } = plot.parentElement?.dataset ?? {}
    const canvas = plot.querySelector('canvas')!
    const rows = [...plot.querySelectorAll('.u-legend .u-series:not(.behind)')].slice(1)
    const lines = rows.flatMap((row) => {
      const label = row.querySelector('.u-label')?.textContent ?? ''
      const mark = row.querySelector('.u-marker')
      return label === '' || mark === null ? [] : [{ label, color: colorOf(mark) }]
    })
    return { canvas, name: unit === '' ? name : `${name}, ${unit}`, lines }
  })
}

/** The colour of a mark: that of the border for a line, that of the inside for a band. */
function colorOf(mark: Element): string {
  const { borderTopColor, borderTopWidth, backgroundColor } = getComputedStyle(mark)
  const isLine = borderTopWidth !== '0px' && !/rgba\(.*, 0\)|transparent/.test(borderTopColor)
  return isLine ? borderTopColor : backgroundColor
}

function compose({ title, subtitle, credits }: Picture, plots: readonly DrawnPlot[]): HTMLCanvasElement {
  const ratio = devicePixelRatio
  const heights = plots.map(({ canvas }) => canvas.height / ratio)
  const height =
    2 * MARGIN +
    TITLE.line +
    SUBTITLE.line +
    heights.reduce((sum, each) => sum + each + LEGEND.line + SPACE, 0) +
    credits.length * CREDIT.line
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(WIDTH * ratio)
  canvas.height = Math.round(height * ratio)
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('no canvas')
  context.scale(ratio, ratio)
  context.fillStyle = variable('--surface')
  context.fillRect(0, 0, WIDTH, height)
  context.textBaseline = 'middle'
  let y = MARGIN
  const write = (text: string, style: { size: number; line: number }, color: string, weight = 400): void => {
    context.font = `${weight} ${style.size}px ${variable('--font')}`
    context.fillStyle = variable(color)
    context.fillText(text, MARGIN, y + style.line / 2, WIDTH - 2 * MARGIN)
    y += style.line
  }
  write(title, TITLE, '--text', 650)
  write(subtitle, SUBTITLE, '--muted')
  for (const [i, plot] of plots.entries()) {
    writeLegend(context, plot, y + LEGEND.line / 2)
    y += LEGEND.line
    context.drawImage(plot.canvas, MARGIN, y, plot.canvas.width / ratio, heights[i] ?? 0)
    y += (heights[i] ?? 0) + SPACE
  }
  for (const credit of credits) write(credit, CREDIT, '--muted')
  return canvas
}

function writeLegend(context: CanvasRenderingContext2D, { name, lines }: DrawnPlot, y: number): void {
  let x = MARGIN
  const write = (text: string, color: string, weight: number): void => {
    context.font = `${weight} ${LEGEND.size}px ${variable('--font')}`
    context.fillStyle = variable(color)
    context.fillText(text, x, y)
    x += context.measureText(text).width + LEGEND.gap
  }
  write(name, '--text', 600)
  for (const { label, color } of lines) {
    context.fillStyle = color
    context.fillRect(x, y - 2, LEGEND.mark, 4)
    x += LEGEND.mark + LEGEND.markGap
    write(label, '--muted', 400)
  }
}
