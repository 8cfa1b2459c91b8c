/** The state of the page, in signals, and what changes it. Components read it and keep none of their own. */
import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { Map as MapView } from 'maplibre-gl'
import { Answers } from './answers.ts'
import { type ActiveBuoy, Api, type ApiTrouble } from './api.ts'
import { Guest } from './guest.ts'
import { keptKey, takeKeyFromAddress } from './key.ts'
import { chosenUnits, type Favourite, keepFavourites, keptFavourites, toggled } from './mine/kept.ts'
import {
  type Decimals,
  formatUnits,
  parseUnits,
  scalesOfSources,
  type Units,
  unitsOfLocales,
} from './mine/units.ts'
import { clockTime, DAY_MS, dayText, duration, viewerZone } from './format.ts'
import { texts } from './language.ts'
import { aboutOf, isVirtualOnly, type Page, pageOf, placeNames } from './page.ts'
import { formatView, MAP_END, parseView, type Position, type ViewState } from './view.ts'

const { basePath = '', explorer, refresh } = document.documentElement.dataset
/** Title of the page. */
export const SITE = document.documentElement.dataset.title ?? 'groundswell'
/** The one buoy of a page within the page of somebody else, which does not use up the visitor's key. */
const embedded = /\/embed\/([a-z0-9-]+)$/.exec(location.pathname)?.[1]
const key = takeKeyFromAddress() || keptKey()
/** Behind a proxy that takes a prefix off, only the browser knows the whole path. */
const base = new URL(basePath, location.href).pathname
export const api = new Api(base, embedded === undefined ? key : '', () => Date.now(), explorer === 'open')
/** Epoch milliseconds by the server. */
export const { clock } = api
/** The same, as far as ages in the page have come. */
export const now = signal(clock())

/** The view of the address; units that it leaves open are those that the visitor once chose here. */
export function viewOfAddress(): ViewState {
  const view = parseView(location.hash.slice(1))
  const units = { ...chosenUnits(), ...view.units }
  const tab = (view.tab === 'card') === (embedded !== undefined) ? view.tab : 'now'
  return embedded === undefined ? { ...view, units, tab } : { ...view, units, buoy: embedded, tab }
}

/** The view of the address. */
export const view = signal(viewOfAddress())
/** Units of the address before those chosen here before those of the locale. */
const unitsText = computed(() =>
  formatUnits({ ...unitsOfLocales(navigator.languages), ...chosenUnits(), ...view.value.units }),
)
/** The units of all that the page shows; the same object until they change. */
export const units = computed(() => parseUnits(unitsText.value) as Units)

export const favourites = signal(keptFavourites())
// A favourite place has its name also where only the address leads to it.
for (const { slug, name } of favourites.peek()) {
  if (!placeNames.has(slug)) placeNames.set(slug, name)
}
/** The text in the search box. */
export const query = signal('')
/** The trouble of the connection, or null. */
export const trouble = signal<ApiTrouble | null>(null)
/** The reason for the open dialog for a key, perhaps ''; null while it is closed. */
export const keyPrompt = signal<string | null>(null)
/** The active buoys, or null before they are there. */
export const buoys = signal<readonly ActiveBuoy[] | null>(null)
/** How the values of a buoy are written, everywhere. */
export const scalesOf = computed(() => scalesOfSources(buoys.value ?? [], decimals.value, units.value))
/** Null without a map, and before it has come. */
export const map = signal<MapView | null>(null)
/**
 * The buoys that the first view of the map leaves out, by where they are; none once the visitor has moved it.
 */
export const beyond = signal<readonly { side: keyof typeof texts.map.sides; count: number }[]>([])
/** When the page was known to be current, by `performance.now`: a clock that nobody sets. */
export const currentAt = signal(performance.now())

export const SHEET_HEIGHTS = ['peek', 'half', 'full'] as const
/** How far the panel of a narrow screen is open. */
export const sheet = signal<(typeof SHEET_HEIGHTS)[number]>('peek')

/** Changes when there is something new to draw. */
const revision = signal(0)
const redraw = (): void => void (revision.value = revision.peek() + 1)
/** The next page is of another snapshot. */
let isNews = false

export const answers: Answers = new Answers(api, (failure, isOther) => {
  if (failure === null) currentAt.value = performance.now()
  else report(failure)
  isNews ||= isOther
  if (isNews) whenLetGo(redraw)
  else redraw()
})
const guest = new Guest(api, answers)

const pageNow = (): Page => {
  const pixels = document.getElementById('content')?.clientWidth ?? innerWidth
  const place = { isOfOneBuoy: embedded !== undefined, pixels, hasMap: map.peek() !== null }
  return pageOf(api, answers, guest, view.peek(), place)
}

/** The panel's subject and answers. */
export const page = signal(pageNow())
/** A guest finds more where the map has been moved to; for all others its place changes nothing. */
const asked = computed(() =>
  formatView({ ...view.value, camera: api.isGuest ? view.value.camera : null, units: {} }),
)
effect(() => {
  // The map comes last, and the silent buoys after it.
  void [asked.value, revision.value, map.value]
  const next = pageNow()
  now.value = clock()
  if (next.buoys.state === 'here') buoys.value = next.buoys.data.buoys
  const isSame = aboutOf(next.view) === aboutOf(page.peek().view)
  // The charts of some days have other dates in another snapshot: what is read stays until they have come.
  if (isNews && answers.isWaiting && isSame) return
  isNews = false
  page.value = next
})

/** The decimals of networks, by the list of all buoys. */
const decimals = computed((): Decimals => {
  const { buoys: list } = page.value
  return (list.state === 'here' && list.data.decimals) || {}
})

/** Data of networks that report every hour are as old before the next ones come. */
const LEAST_OLD_MS = 2 * 3_600_000
/** Older data are not what was to be expected: two scheduled builds have brought none. */
const oldMs = Math.max(LEAST_OLD_MS, 2 * Number(refresh ?? 0) * 1000)

/** `Data as of 18 Oct, 40 days old` where the data are older than expected, else ''. */
export const dataAge = computed(() => {
  const asOf = api.asOf.value
  if (asOf === null || now.value - asOf <= oldMs) return ''
  const time = new Date(asOf)
  const zone = viewerZone()
  const isOfDays = now.value - asOf >= DAY_MS
  const at = isOfDays ? dayText(time, zone, now.value) : clockTime(time, zone)
  return texts.status.dataAsOf(at, duration((now.value - asOf) / 1000))
})

/** When buoys of the list have reported. */
export const recently = computed(() =>
  dataAge.value === '' ? texts.list.recently : texts.list.recentlyOfData,
)

/** Buoys without a recent reading, which are on the map and found by the search. */
export const silent = computed((): readonly ActiveBuoy[] => {
  const { all } = page.value
  if (all?.state !== 'here') return []
  const active = new Set((buoys.value ?? []).map(({ id }) => id))
  return all.data.buoys.filter(({ id }) => !active.has(id))
})

/** Buoys that satellites measure are shown where the visitor wants them, or where there are no others. */
export const showsSatellites = computed(() => view.value.satellites || isVirtualOnly(buoys.value ?? []))

/** A globe, where the visitor wants it, or where a flat map would have buoys at its edge. */
export const showsGlobe = computed(
  () => view.value.globe ?? (buoys.value ?? []).some(({ lat }) => Math.abs(lat) > MAP_END),
)

/** The subject of the panel. */
export const about = computed(() => aboutOf(view.value))
effect(() => {
  // The sheet opens for what is more than a list: a buoy, a point, the invitation to enter a key.
  sheet.value = about.value === '' && untracked(() => !api.isGuest) ? 'peek' : 'half'
})

/** News wait at most this long while the visitor presses something in the panel or selects its text. */
const PATIENCE_MS = 20_000
const LOOK_MS = 250

function whenLetGo(act: () => void, waitedMs = 0): void {
  const content = document.getElementById('content')
  const selection = getSelection()
  const isSelecting = selection?.type === 'Range' && content?.contains(selection.anchorNode) === true
  const isHeld = isSelecting || content?.matches(':active') === true
  if (isHeld && waitedMs < PATIENCE_MS) setTimeout(() => whenLetGo(act, waitedMs + LOOK_MS), LOOK_MS)
  else act()
}

/** A change of what the panel is about goes into the history, everything else only into the address. */
export function update(patch: Partial<ViewState>): void {
  const before = view.peek()
  const next = { ...before, ...patch }
  const fragment = formatView(next)
  const address = `${location.pathname}${location.search}${fragment === '' ? '' : `#${fragment}`}`
  if (aboutOf(next) === aboutOf(before)) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  view.value = next
}

export const openBuoy = (slug: string): void => update({ buoy: slug, point: null })
/** Opens what is known of a point: its days ahead, and its nearest buoys. */
export function openPoint({ lat, lng }: Position): void {
  update({ buoy: null, point: { lat: Number(lat.toFixed(4)), lng: Number(lng.toFixed(4)) } })
}

/** A point with a name. */
export function openPlace(name: string, point: Position): void {
  placeNames.set(aboutOf({ buoy: null, point }), name)
  openPoint(point)
}

/** The element of an id in `index.html`. @throws Error when the page has none */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

/**
 * Lets the browser draw and answer the visitor before what comes next: on a phone that takes four times as
 * long.
 */
export const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve))

/** Gives screen readers a text to read out. */
export function announce(text: string): void {
  byId('announcer').textContent = text
}

/** Puts a buoy on the visitor's list, or takes it off. */
export function toggle(buoy: Favourite): void {
  favourites.value = toggled(favourites.peek(), buoy)
  keepFavourites(favourites.peek())
  const isOn = favourites.peek()[0]?.slug === buoy.slug
  announce((isOn ? texts.panel.isFavourite : texts.panel.noFavourite)(buoy.name))
}

/** Another page of this browser changed units or favourites. */
export function followStorage(): void {
  favourites.value = keptFavourites()
  view.value = { ...view.peek(), units: viewOfAddress().units }
}

/** Asks again for all that failed. */
export function retry(): void {
  trouble.value = null
  answers.forgetFailures()
  redraw()
}

/** Forgets what another key has brought; '' for none. */
export function takeKey(key: string): void {
  batch(() => {
    answers.clear()
    api.key.value = key
    api.quota.value = null
    buoys.value = null
    retry()
  })
}

/** Shows what is wrong and when the page goes on, which it then does by itself. */
export function report(failure: ApiTrouble): void {
  if (failure.kind === 'unauthorized') {
    if (api.key.peek() === '') becomeGuest()
    else keyPrompt.value = texts.key.wrong
  } else if (failure.kind !== 'not found' && failure.kind !== 'refused') trouble.value = failure
  // The panel shows the others.
}

/**
 * The server opens its pages to others, not to this visitor. A proxy may be on the way. Else the address is
 * neither HTTPS nor loopback, and the browser does not say which page asks.
 */
function becomeGuest(): void {
  if (api.isGuest) return
  batch(() => {
    answers.clear()
    api.isOpen.value = false
    sheet.value = 'half'
    redraw()
  })
}
