/** The latest satellite passes, above the list of buoys; the map shows the one that the visitor chooses. */
import type { SatellitePass } from '../../../clients/typescript/groundswell.ts'
import { passesAddress } from '../addresses.ts'
import { element } from '../dom.ts'
import { clockTime, dayAndTime, UTC } from '../format.ts'
import { quantityText } from '../mine/units.ts'
import type { Scene } from '../scene.ts'
import { passPoints } from '../map/features.ts'
import { chip, instead, note } from './pieces.ts'

export function passList(scene: Scene): HTMLElement {
  const answer = scene.answers.get(passesAddress(scene))
  return element(
    'section',
    { class: 'passes' },
    element('h3', {}, 'Latest satellite passes'),
    note('Rings on the map are fixed points at sea, measured by satellites as they pass over.'),
    answer.state === 'here' ? passRows(scene, answer.data.satellite_passes) : instead(answer, 'the passes'),
  )
}

function passRows(scene: Scene, passes: readonly SatellitePass[]): HTMLElement {
  if (passes.length === 0) return note('No pass in the last 24 hours.')
  return element(
    'ul',
    { class: 'buoys' },
    ...passes.map((pass) =>
      element(
        'li',
        {},
        passButton(scene, pass),
        scene.chosenPass?.id === pass.id ? pointsOf(scene, pass) : null,
      ),
    ),
  )
}

function passButton(scene: Scene, pass: SatellitePass): HTMLElement {
  const isChosen = scene.chosenPass?.id === pass.id
  const [start, end] = [new Date(pass.started_at), new Date(pass.ended_at)]
  const times = `${dayAndTime(start, UTC)} – ${clockTime(end, UTC)} UTC`
  const points = `${pass.buoy_count} ${pass.buoy_count === 1 ? 'point' : 'points'}`
  return element(
    'button',
    {
      type: 'button',
      class: 'pass',
      id: `pass-${pass.id}`,
      'aria-pressed': String(isChosen),
      onclick: () => scene.choosePass(isChosen ? null : pass),
    },
    element('span', { class: 'row-name' }, pass.platform, element('small', {}, times)),
    element('span', { class: 'row-height' }, points),
  )
}

/** The points along the track with their heights; each leads to its virtual buoy. */
function pointsOf(scene: Scene, pass: SatellitePass): HTMLElement {
  const points = passPoints(pass, scene.buoys ?? [])
  const missing = pass.buoy_count - points.length
  return element(
    'div',
    { class: 'pass-points' },
    element(
      'ul',
      {},
      ...points.map(({ slug, name, height, time }) =>
        element(
          'li',
          {},
          element(
            'a',
            {
              href: `#buoy=${slug}`,
              onclick: (event) => {
                event.preventDefault()
                scene.update({ buoy: slug, point: null })
              },
            },
            chip(height, true),
            element(
              'span',
              { class: 'row-name' },
              name,
              element('small', {}, `${clockTime(new Date(time), UTC)} UTC`),
            ),
            element('span', { class: 'row-height' }, quantityText('height', scene.units, height, 1)),
          ),
        ),
      ),
    ),
    missing > 0
      ? note(`A later pass has measured ${missing === 1 ? 'one point' : `${missing} points`} again since.`)
      : null,
  )
}
