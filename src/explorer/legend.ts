/** The legend of the map: the colours of the classes of height. */
import { byId, element } from './dom.ts'
import { classLabels, HEIGHT_COLORS } from './heights.ts'
import { scaleOf, type Units } from './mine/units.ts'
import type { Theme } from './theme.ts'

export function drawLegend(theme: Theme, units: Units): void {
  const scale = scaleOf('height', units)
  const labels = classLabels(scale)
  const rows = HEIGHT_COLORS[theme].map((color, i) => {
    const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' })
    swatch.style.background = color
    return element('li', {}, swatch, labels[i] ?? '')
  })
  byId('legend').replaceChildren(
    element('h2', {}, `Significant wave height, ${scale.unit}`),
    element('ol', {}, ...rows),
  )
}
