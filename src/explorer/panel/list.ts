/** The panel of all buoys: a row each, in an order that the visitor chooses. */
import { mapAddress, passesAddress } from '../addresses.ts'
import type { ActiveBuoy } from '../api.ts'
import { curlBox } from '../curl.ts'
import { downloadBox } from '../downloads/box.ts'
import { ago, choices, element } from '../dom.ts'
import { isOld } from '../format.ts'
import { favourites } from '../mine/favourites.ts'
import { quantityText } from '../mine/units.ts'
import type { Scene } from '../scene.ts'
import type { Drawn } from './drawn.ts'
import { passList } from './passes.ts'
import { chip, heading, instead } from './pieces.ts'

const TITLE = 'Buoys now'
/** Rows of the list before the visitor asks for all. */
const FIRST_ROWS = 100

export type Order = 'height' | 'name' | 'age'

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
