/** The panel of all buoys: a row each, in an order that the visitor chooses, and the latest satellite passes. */
import type { SatellitePass } from '../../../clients/typescript/groundswell.ts'
import { mapAddress, passesAddress } from '../addresses.ts'
import type { ActiveBuoy } from '../api.ts'
import { curlBox } from '../curl.ts'
import { ago, choices, element } from '../dom.ts'
import { downloadBox } from '../downloads/box.ts'
import { clockTime, dayAndTime, isOld, UTC } from '../format.ts'
import { passPoints } from '../map/features.ts'
import { favourites } from '../mine/kept.ts'
import { quantityText } from '../mine/units.ts'
import type { Scene } from '../scene.ts'
import { chip, type Drawn, heading, instead, note } from './pieces.ts'

const TITLE = 'Buoys now'
/** Rows of the list before the visitor asks for all. */
const FIRST_ROWS = 100

type Order = 'height' | 'name' | 'age'

const ORDER_LABELS: readonly { value: Order; label: string }[] = [
  { value: 'height', label: 'Highest' },
  { value: 'name', label: 'Name' },
  { value: 'age', label: 'Newest' },
]

/** Buoys without a reading come last. */
const heightOf = ({ last_reading: reading }: ActiveBuoy): number => reading?.significient_height ?? -1

/** A height of hours ago is not among the highest of now. */
const isStale = ({ virtual, last_reading: reading }: ActiveBuoy, now: number): boolean =>
  !virtual && reading !== null && isOld(Date.parse(reading.time), now)

const ORDERS: { readonly [order in Order]: (a: ActiveBuoy, b: ActiveBuoy, now: number) => number } = {
  height: (a, b, now) =>
    Number(isStale(a, now)) - Number(isStale(b, now)) ||
    heightOf(b) - heightOf(a) ||
    a.name.localeCompare(b.name),
  name: (a, b) => a.name.localeCompare(b.name),
  age: (a, b) =>
    (b.last_reading_time ?? '').localeCompare(a.last_reading_time ?? '') || a.name.localeCompare(b.name),
}

export interface ListState {
  order: Order
  all: boolean
  onChange: () => void
  onKey: () => void
}

export function drawList(scene: Scene, list: ListState): Drawn {
  const answer = scene.answers.get(mapAddress(scene))
  if (answer.state !== 'here') {
    return { title: TITLE, nodes: [heading(TITLE), instead(answer, 'the buoys')] }
  }
  const { satellites } = scene.view
  const buoys = satellites ? answer.data.buoys : answer.data.buoys.filter(({ virtual }) => !virtual)
  const own = favouriteRows(scene, answer.data.buoys)
  return {
    title: TITLE,
    nodes: [
      heading(TITLE),
      element('p', { class: 'sub' }, countText(buoys.length)),
      ...own,
      satellites ? passList(scene) : null,
      satellites || own.length > 0 ? element('h3', {}, 'All buoys') : null,
      ...buoyRows(scene, list, buoys),
      downloadBox(scene, ({ offersOfList }) => offersOfList(scene, scene.mapBounds())),
      curlBox(scene, [
        { label: 'All buoys of the map', address: mapAddress(scene) },
        ...(satellites ? [{ label: 'Latest satellite passes', address: passesAddress(scene) }] : []),
      ]),
    ],
  }
}

/** The visitor's own buoys come first, those without a recent reading too. */
function favouriteRows(scene: Scene, buoys: readonly ActiveBuoy[]): HTMLElement[] {
  const own = favourites()
  if (own.length === 0) return []
  const rows = own.map(({ slug, name }) => {
    const active = buoys.find((buoy) => buoy.slug === slug)
    return active === undefined ? silentRow(scene, slug, name) : buoyRow(scene, active, 'favourite')
  })
  return [
    element('h3', { class: 'first' }, 'Favourites'),
    element('ul', { class: 'buoys favourites' }, ...rows),
  ]
}

function silentRow(scene: Scene, slug: string, name: string): HTMLElement {
  return row(scene, slug, 'favourite', [
    chip(null),
    element('span', { class: 'row-name' }, name, element('small', {}, 'no reading in the last 24 hours')),
    element('span', { class: 'row-height' }, '–'),
  ])
}

/** A row for each buoy, below the choice of their order. */
export function buoyRows(
  scene: Scene,
  list: ListState,
  buoys: readonly ActiveBuoy[],
): (HTMLElement | null)[] {
  const now = scene.clock()
  const sorted = buoys.toSorted((a, b) => ORDERS[list.order](a, b, now))
  const rows = list.all ? sorted : sorted.slice(0, FIRST_ROWS)
  return [
    buoys.length === 0 ? null : orderSwitch(list),
    element('ul', { class: 'buoys' }, ...rows.map((buoy) => buoyRow(scene, buoy))),
    rows.length === sorted.length ? null : allButton(list, sorted.length),
  ]
}

function countText(count: number): string {
  if (count === 0) return 'No buoy has reported in the last 24 hours.'
  return `${count} ${count === 1 ? 'buoy' : 'buoys'} reporting in the last 24 hours`
}

function orderSwitch(list: ListState): HTMLElement {
  return choices('order', 'Order of the list', ORDER_LABELS, list.order, (order) => {
    list.order = order
    list.onChange()
  })
}

function allButton(list: ListState, count: number): HTMLElement {
  const showAll = (): void => {
    list.all = true
    list.onChange()
  }
  return element('button', { type: 'button', onclick: showAll }, `Show all ${count}`)
}

function buoyRow(
  scene: Scene,
  { slug, name, source, virtual, last_reading: reading }: ActiveBuoy,
  idStart = 'row',
): HTMLElement {
  const height = reading?.significient_height ?? null
  const age = reading === null ? 'no reading' : ago(reading.time, scene.clock())
  return row(scene, slug, idStart, [
    chip(height, virtual),
    element('span', { class: 'row-name' }, name, element('small', {}, `${source} · `, age)),
    element(
      'span',
      { class: 'row-height' },
      height === null ? '–' : quantityText('height', scene.units, height, 1),
    ),
  ])
}

/** A row that opens its buoy. */
function row(scene: Scene, slug: string, idStart: string, cells: readonly HTMLElement[]): HTMLElement {
  const open: EventListener = (event) => {
    event.preventDefault()
    scene.update({ buoy: slug, point: null })
  }
  const link = { href: `#buoy=${slug}`, id: `${idStart}-${slug}`, onclick: open }
  return element('li', {}, element('a', link, ...cells))
}

function passList(scene: Scene): HTMLElement {
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
