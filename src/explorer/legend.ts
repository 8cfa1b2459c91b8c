/** The legend of the map: the colours of the classes of height. */
import { byId, element } from './dom.ts'
import { classLabels, HEIGHT_COLORS } from './heights.ts'
import { scaleOf, type Units } from './mine/units.ts'

export function drawLegend(units: Units): void {
  const scale = scaleOf('height', units)
  const labels = classLabels(scale)
  const rows = HEIGHT_COLORS.map((color, i) => {
    const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' })
    swatch.style.background = color
    const label = labels[i] ?? ''
    // Narrow screens have room for the lower limit alone.
    const from = element('span', { class: 'from', 'aria-hidden': 'true' }, label.replace(/–.*/, ''))
    return element('li', {}, swatch, element('span', { class: 'range' }, label), from)
  })
  byId('legend').replaceChildren(
    element(
      'h2',
      {},
      `Significant wave height, ${scale.unit}`,
      element('span', {}, element('i', { class: 'chip', 'aria-hidden': 'true' }), 'over 3 h old'),
    ),
    element('ol', {}, ...rows),
  )
}
