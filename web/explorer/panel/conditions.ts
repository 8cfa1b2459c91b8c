/** The panel of a point of the sea: forecast, tide and nearest reading, as a list of facts. */
import type { Conditions } from '../../../clients/typescript/groundswell.ts'
import { conditionsAddress } from '../addresses.ts'
import { curlBox } from '../curl.ts'
import { ago, element } from '../dom.ts'
import { downloadBox } from '../downloads/box.ts'
import { clockTime, decimals, position, type Zone } from '../format.ts'
import { distanceKm } from '../map/arc.ts'
import { quantityText, type Units } from '../mine/units.ts'
import { chosenZone, type Scene } from '../scene.ts'
import type { Position } from '../view.ts'
import { forecastCredit, linked } from './credits.ts'
import { back, type Drawn, heading, instead, note, zoneSwitch } from './pieces.ts'

/** `withReading` adds the nearest buoy's reading, which the panel of a buoy shows already. */
export function conditionsOf(
  scene: Scene,
  { forecast, reading, tide, metadata, location }: Conditions,
  zone: Zone,
  { withReading }: { withReading: boolean },
): HTMLElement {
  const facts = [
    withReading ? (readingFact(scene, reading) ?? nearestFact(scene, location)) : null,
    wavesFact(scene.units, 'Waves', forecast.waves_height, forecast.waves_period, forecast.waves_direction),
    wavesFact(scene.units, 'Swell', forecast.swell_height, forecast.swell_period, forecast.swell_direction),
    windFact(scene.units, forecast),
    tideFact(scene, tide, metadata.tide_source, zone),
  ].filter((each) => each !== null)
  const has = { forecast: forecast.waves_height !== null, tide: tide.height !== null }
  if (facts.length === 0)
    return note(`No forecast${withReading ? ', buoy' : ''} or tide is available near this point.`)
  const run = forecast.waves_height === null ? null : metadata.forecast_updated_at
  return element(
    'div',
    {},
    element('dl', { class: 'facts' }, ...facts),
    has.forecast ? null : note('No forecast is available here.'),
    has.tide ? null : note('There is no tide harbour within 100 km.'),
    run === null ? null : forecastCredit(metadata, run, zone, scene.api.isDemo),
  )
}

function fact(label: string, ...value: (string | Node)[]): HTMLElement {
  return element('div', {}, element('dt', {}, label), element('dd', {}, ...value))
}

function readingFact(scene: Scene, reading: Conditions['reading']): HTMLElement | null {
  if (!reading.exists) return null
  return fact(
    'Nearest buoy',
    `${quantityText('height', scene.units, reading.significient_height)}, `,
    ago(reading.time, scene.clock()),
    ' at ',
    buoyLink(scene, scene.buoys?.find(({ id }) => id === reading.buoy.id)?.slug, reading.buoy.name),
    `, ${Math.round(reading.buoy.distance_km)} km away`,
  )
}

/** The nearest buoy however far it is: beyond 50 km its reading says little of the point. */
function nearestFact(scene: Scene, point: Position): HTMLElement | null {
  const [nearest] = (scene.buoys ?? [])
    .filter(({ virtual, last_reading: reading }) => !virtual && reading !== null)
    .map((buoy) => ({ buoy, km: distanceKm(buoy, point) }))
    .toSorted((a, b) => a.km - b.km)
  if (nearest === undefined) return null
  const { buoy, km } = nearest
  const reading = buoy.last_reading
  return fact(
    'Nearest buoy',
    buoyLink(scene, buoy.slug, buoy.name),
    `, ${Math.round(km).toLocaleString('en')} km away`,
    ...(reading === null
      ? []
      : [
          `: ${quantityText('height', scene.units, reading.significient_height)}, `,
          ago(reading.time, scene.clock()),
        ]),
  )
}

function buoyLink(scene: Scene, slug: string | undefined, name: string): Node | string {
  if (slug === undefined) return name
  const open: EventListener = (event) => {
    event.preventDefault()
    scene.update({ buoy: slug, point: null })
  }
  return element('a', { href: `#buoy=${slug}`, onclick: open }, name)
}

function wavesFact(
  units: Units,
  label: string,
  height: number | null,
  period: number | null,
  from: string | null,
): HTMLElement | null {
  if (height === null) return null
  const parts = [
    quantityText('height', units, height, 1),
    period === null ? null : `${decimals(period, 0)} s`,
    from === null ? null : `from ${from}`,
  ]
  return fact(label, parts.filter((part) => part !== null).join(', '))
}

function windFact(
  units: Units,
  { wind_speed: speed, wind_direction: from }: Conditions['forecast'],
): HTMLElement | null {
  if (speed === null) return null
  return fact('Wind', `${quantityText('speed', units, speed, 0)}${from === null ? '' : ` from ${from}`}`)
}

function tideFact(
  scene: Scene,
  tide: Conditions['tide'],
  source: string | null,
  zone: Zone,
): HTMLElement | null {
  if (tide.height === null || tide.seconds_to_next_tide_change === null) return null
  const nextAt = new Date(scene.clock() + tide.seconds_to_next_tide_change * 1000)
  const level = (metres: number): string => quantityText('height', scene.units, metres)
  const now = `${level(tide.height)}, ${tide.direction ?? ''}`
  const next = `${tide.next_tide ?? ''} ${level(tide.next_tide_height ?? 0)}`
  return fact(
    'Tide',
    `${now}; ${next} at ${clockTime(nextAt, zone)} ${zone.label}`,
    element(
      'small',
      {},
      ...linked([tide.harbor, 'heights above chart datum', source].filter(Boolean).join(' · ')),
    ),
  )
}

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
