/** The panel of one point of the sea. */
import { conditionsAddress } from '../addresses.ts'
import { curlBox } from '../curl.ts'
import { downloadBox } from '../downloads/box.ts'
import { element } from '../dom.ts'
import { position } from '../format.ts'
import { chosenZone, type Scene } from '../scene.ts'
import type { Position } from '../view.ts'
import { conditionsOf } from './conditions.ts'
import type { Drawn } from './drawn.ts'
import { back, heading, instead, zoneSwitch } from './pieces.ts'

export function drawPoint(scene: Scene, point: Position): Drawn {
  const address = conditionsAddress(scene, point)
  const answer = scene.answers.get(address)
  const title = `Sea at ${position(point.lat, point.lng)}`
  const body =
    answer.state === 'here'
      ? conditionsOf(scene, answer.data, chosenZone(scene, answer.data.location.timezone), {
          withReading: true,
        })
      : instead(answer, 'the conditions')
  return {
    title,
    nodes: [
      back(scene),
      heading(title),
      element('p', { class: 'sub' }, 'Conditions now'),
      zoneSwitch(scene, 'Local'),
      body,
      downloadBox(scene, ({ offersOfPoint }) => offersOfPoint(scene, point)),
      curlBox(scene, [{ label: 'These conditions', address }]),
    ],
  }
}
