/** The latest satellite passes, above the list of buoys; the map shows the one that the visitor chooses. */
import type { SatellitePass } from '../../../clients/typescript/groundswell.ts'
import { passesAddress } from '../addresses.ts'
import { element } from '../dom.ts'
import { clockTime, dayAndTime, UTC } from '../format.ts'
import type { Scene } from '../scene.ts'
import { instead, note } from './pieces.ts'

export function passList(scene: Scene): HTMLElement {
  const answer = scene.answers.get(passesAddress(scene))
  return element(
    'section',
    { class: 'passes' },
    element('h3', {}, 'Latest satellite passes'),
    note('Rings on the map are fixed points of the sea that altimeters measure as they pass.'),
    answer.state === 'here' ? passRows(scene, answer.data.satellite_passes) : instead(answer, 'the passes'),
  )
}

function passRows(scene: Scene, passes: readonly SatellitePass[]): HTMLElement {
  if (passes.length === 0) return note('No pass of the last day.')
  return element(
    'ul',
    { class: 'buoys' },
    ...passes.map((pass) => element('li', {}, passButton(scene, pass))),
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
