/**
 * The explorer: holds what is shown, draws the panel anew when that or an answer changes, and keeps map and
 * address in step.
 */
import { Answers } from './answers.ts'
import { Api, type ApiTrouble, type MapBuoy } from './api.ts'
import { byId, element, icon, tickAges } from './dom.ts'
import { clockTime, duration, zoneOf } from './format.ts'
import { classLabels, HEIGHT_COLORS } from './heights.ts'
import { keptKey, openKeyDialog, takeKeyFromAddress } from './key.ts'
import type { BuoyMap, Theme } from './map.ts'
import { addresses, drawBuoy, drawList, drawPoint, type Drawn, type ListState } from './panel.ts'
import type { Scene } from './scene.ts'
import { searchBox } from './search.ts'
import { coveredByPanel, isSheet, setSheet, startSheet } from './sheet.ts'
import { formatView, parseView, type ViewState } from './view.ts'

const ICONS = {
  key: 'M8 11a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM11.2 12.3L19.5 4M16 7.5l3.5 3.5M13.5 10l2 2',
  book: 'M5 4h9a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  satellite: 'M8 12l4-4 4 4-4 4zM9.5 10.5L5.5 6.5l-2.5 2.5 4 4M14.5 13.5l4 4 2.5-2.5-4-4M13 19a5 5 0 0 0 5-5',
  aim: 'M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM12 2v6M12 16v6M2 12h6M16 12h6',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
} as const

const THEME_PLACE = 'groundswell-theme'
/** A new snapshot is seen within this. Mostly one call a minute, and an answer without a body. */
const REFRESH_MS = 60_000
const TICK_MS = 10_000

/** Epoch milliseconds. */
const clock = (): number => Date.now()

const darkPreferred = matchMedia('(prefers-color-scheme: dark)')

function keptTheme(): Theme | null {
  try {
    const kept = localStorage.getItem(THEME_PLACE)
    return kept === 'light' || kept === 'dark' ? kept : null
  } catch {
    return null
  }
}

let theme: Theme = keptTheme() ?? (darkPreferred.matches ? 'dark' : 'light')
let map: BuoyMap | null = null
let trouble: ApiTrouble | null = null
let retryTimer = 0
let refreshedAt = clock()
let redrawAsked = false
let endDrawing: () => void = () => {}
let drawnFor = ''
let lastTitle = ''
let buoysOnMap: readonly MapBuoy[] | null = null
/**
 * Where the focus goes when the panel has been drawn: the heading of something new, or the row that was left.
 */
let focusNext: string | null = null

const keyOfAddress = takeKeyFromAddress()
const api = new Api(document.documentElement.dataset.basePath ?? '', keyOfAddress || keptKey(), clock)
const answers = new Answers(api, (failure) => {
  if (failure !== null) tell(failure)
  redraw()
})

const scene: Scene = {
  api,
  answers,
  get theme() {
    return theme
  },
  view: parseView(location.hash.slice(1)),
  clock,
  buoys: null,
  chosenPass: null,
  announce,
  update,
  choosePass(pass) {
    scene.chosenPass = pass
    if (isSheet() && pass !== null) setSheet('half')
    map?.setPass(pass, coveredByPanel())
    redraw()
  },
}

const list: ListState = {
  order: 'height',
  all: false,
  onChange: redraw,
  onKey: () => askForKey(''),
}

function announce(text: string): void {
  byId('announcer').textContent = text
}

/** A change of what the panel is about goes into the history, all else only into the address. */
function update(patch: Partial<ViewState>): void {
  const before = scene.view
  scene.view = { ...before, ...patch }
  const isElsewhere = scene.view.buoy !== before.buoy || !samePoint(scene.view.point, before.point)
  const fragment = formatView(scene.view)
  const address = `${location.pathname}${location.search}${fragment === '' ? '' : `#${fragment}`}`
  if (isElsewhere) history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  if (isElsewhere) arrive(before)
  if (Object.keys(patch).some((name) => name !== 'camera')) redraw()
}

function samePoint(a: ViewState['point'], b: ViewState['point']): boolean {
  return a === b || (a !== null && b !== null && a.lat === b.lat && a.lng === b.lng)
}

/** The panel is about something else now. */
function arrive(before: ViewState): void {
  const { buoy, point } = scene.view
  const isList = buoy === null && point === null
  focusNext = isList && before.buoy !== null ? `row-${before.buoy}` : 'heading'
  byId('content').scrollTop = 0
  if (isSheet()) setSheet(isList ? 'peek' : 'half')
  showOnMap()
}

/** Marks and brings into view what the panel is about. */
function showOnMap(): void {
  const { buoy, point } = scene.view
  const target = buoy === null ? point : placeOf(buoy)
  map?.mark(target)
  if (target !== null) map?.goTo(target, coveredByPanel())
}

/** Buoys without a recent reading are not on the map; their place comes with their details. */
function placeOf(slug: string): Parameters<BuoyMap['mark']>[0] {
  const active = scene.buoys?.find((buoy) => buoy.slug === slug)
  if (active !== undefined) return active
  const answer = answers.get<{ buoy: { lat: number; lng: number } }>(addresses.buoy(scene, slug))
  return answer.state === 'here' ? answer.data.buoy : null
}

function redraw(): void {
  if (redrawAsked) return
  redrawAsked = true
  // Several answers may come at once.
  queueMicrotask(() => {
    redrawAsked = false
    draw()
  })
}

function draw(): void {
  const { buoy, point } = scene.view
  answers.beginDrawing()
  const everything = answers.get<{ buoys: MapBuoy[] }>(addresses.map(scene))
  if (everything.state === 'here' && everything.data.buoys !== buoysOnMap) {
    scene.buoys = buoysOnMap = everything.data.buoys
    showBuoys(buoysOnMap)
  }
  if (buoy !== null && scene.buoys?.some(({ slug }) => slug === buoy) !== true) map?.mark(placeOf(buoy))
  const drawn: Drawn =
    buoy !== null
      ? drawBuoy(scene, buoy, redraw)
      : point !== null
        ? drawPoint(scene, point)
        : drawList(scene, list)
  replacePanel(drawn, `${buoy ?? ''} ${point?.lat ?? ''} ${point?.lng ?? ''}`)
  document.title =
    buoy === null && point === null ? 'groundswell · wave buoys now' : `${drawn.title} · groundswell`
}

/** `drawn` are those on the map. */
function showBuoys(buoys: readonly MapBuoy[], drawn: readonly MapBuoy[] | null = null): void {
  if (buoys !== drawn) map?.setBuoys(buoys)
  if (scene.view.camera === null && scene.view.buoy === null) map?.fit(buoys)
  showOnMap()
}

/** Puts the new nodes in place; focus, open details and the place in the list stay as they were. */
function replacePanel({ title, nodes, afterwards }: Drawn, about: string): void {
  const content = byId('content')
  const isSame = drawnFor === about
  const focused = content.contains(document.activeElement) ? selectorOf(document.activeElement!) : null
  const open = isSame ? [...content.querySelectorAll('details[open]')].map((details) => details.id) : []
  const { scrollTop } = content
  endDrawing()
  endDrawing = () => {}
  content.replaceChildren(...nodes.filter((node) => node !== null))
  for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  if (afterwards !== undefined) endDrawing = afterwards()
  content.scrollTop = isSame ? scrollTop : 0
  drawnFor = about
  if (title !== lastTitle) {
    lastTitle = title
    byId('panel').setAttribute('aria-label', title)
  }
  if (focusNext === 'heading') {
    content.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true })
    focusNext = null
  } else if (focusNext !== null) {
    const row = document.getElementById(focusNext)
    if (row !== null) focusNext = null
    row?.focus()
  } else if (focused !== null) content.querySelector<HTMLElement>(focused)?.focus({ preventScroll: true })
}

/** What finds the same control again among new nodes. */
function selectorOf(control: Element): string | null {
  if (control instanceof HTMLInputElement) return `input[name="${control.name}"][value="${control.value}"]`
  if (control instanceof HTMLSelectElement) {
    const position = [...document.querySelectorAll('#content select')].indexOf(control)
    return `label.select:nth-of-type(${position + 1}) select`
  }
  if (control.id !== '') return `#${CSS.escape(control.id)}`
  return control.tagName === 'H2' ? 'h2' : null
}

/** Says at the top of the page what is wrong and when it goes on; then asks again by itself. */
function tell(failure: ApiTrouble): void {
  if (failure.kind === 'unauthorized') {
    if (api.key !== '') askForKey('The server does not know this key. It may have been replaced.')
    return
  }
  if (failure.kind === 'not found' || failure.kind === 'refused') return
  trouble = failure
  showBanner()
  clearTimeout(retryTimer)
  if (failure.again !== null) {
    // A second later, for clocks differ; at least one, lest a wrong one make this spin.
    retryTimer = setTimeout(retry, Math.max(1000, failure.again - clock() + 1000))
  }
}

function showBanner(): void {
  const banner = byId('banner')
  banner.hidden = trouble === null
  if (trouble === null) return
  const { kind, message, again } = trouble
  const at =
    again === null ? '' : clockTime(new Date(again), zoneOf(Intl.DateTimeFormat().resolvedOptions().timeZone))
  const text =
    kind === 'quota' && again !== null
      ? `This hour’s ${api.quota === null ? '' : `${api.quota.limit.toLocaleString('en')} `}requests are used up. New ones come at ${at}, in ${duration((again - clock()) / 1000)}; the page then goes on by itself.`
      : kind === 'offline'
        ? 'No connection to the server. What you see may be old; the page tries again by itself.'
        : `${message}. The page tries again by itself.`.replace('..', '.')
  banner.replaceChildren(
    element('span', {}, text),
    element('button', { type: 'button', onclick: retry }, 'Try now'),
  )
}

function retry(): void {
  clearTimeout(retryTimer)
  trouble = null
  showBanner()
  answers.forgetFailures()
  redraw()
}

function askForKey(message: string): void {
  openKeyDialog({ key: api.key, quota: api.quota, message }, (key) => {
    api.key = key
    api.quota = null
    scene.buoys = buoysOnMap = null
    map?.setBuoys([])
    answers.clear()
    retry()
    drawTools()
  })
}

function refresh(): void {
  if (document.visibilityState !== 'visible') return
  refreshedAt = clock()
  answers.refresh(isOfNow)
}

/** Conditions without a time are those of the minute. */
function isOfNow(address: string): boolean {
  return address.includes('/conditions?')
}

/** A page that comes into view again shows what is so now. */
function comeBack(): void {
  if (document.visibilityState !== 'visible') return
  tickAges(clock())
  if (clock() - refreshedAt >= REFRESH_MS) refresh()
}

function button(
  name: keyof typeof ICONS,
  label: string,
  onclick: () => void,
  pressed: boolean | null = null,
): HTMLElement {
  return element(
    'button',
    {
      type: 'button',
      class: 'tool',
      id: `tool-${name}`,
      title: label,
      'aria-label': label,
      'aria-pressed': pressed === null ? null : String(pressed),
      onclick,
    },
    icon(ICONS[name]),
  )
}

function drawTools(): void {
  const other = theme === 'dark' ? 'light' : 'dark'
  const docs = element(
    'a',
    { class: 'tool', href: 'docs', title: 'API documentation', 'aria-label': 'API documentation' },
    icon(ICONS.book),
  )
  const focused = document.activeElement?.id ?? ''
  byId('tools').replaceChildren(
    button('key', api.key === '' ? 'Enter an API key' : 'API key', () => askForKey('')),
    button(theme === 'dark' ? 'sun' : 'moon', `Switch to ${other} colours`, () => setTheme(other, true)),
    docs,
  )
  byId('map-tools').replaceChildren(
    button('plus', 'Zoom in', () => map?.zoomBy(1)),
    button('minus', 'Zoom out', () => map?.zoomBy(-1)),
    button('globe', 'Globe', toggleGlobe, scene.view.globe),
    button('satellite', 'Satellite passes', toggleSatellites, scene.view.satellites),
    button('aim', 'Conditions at the middle of the map', () => {
      if (map !== null) update({ buoy: null, point: map.center() })
    }),
  )
  if (focused.startsWith('tool-')) {
    document
      .getElementById(focused === 'tool-sun' ? 'tool-moon' : focused === 'tool-moon' ? 'tool-sun' : focused)
      ?.focus()
  }
}

function toggleGlobe(): void {
  update({ globe: !scene.view.globe })
  map?.setGlobe(scene.view.globe)
  drawTools()
}

function toggleSatellites(): void {
  update({
    satellites: !scene.view.satellites,
    ...(scene.view.satellites ? {} : { buoy: null, point: null }),
  })
  map?.setSatellites(scene.view.satellites)
  if (!scene.view.satellites) scene.choosePass(null)
  drawTools()
}

function setTheme(next: Theme, chosen: boolean): void {
  theme = next
  document.documentElement.dataset.theme = next
  if (chosen) {
    try {
      localStorage.setItem(THEME_PLACE, next)
    } catch {
      // Then it lasts as long as the page.
    }
  }
  map?.setTheme(next)
  drawLegend()
  drawTools()
  redraw()
}

function drawLegend(): void {
  const labels = classLabels()
  byId('legend').replaceChildren(
    element('h2', {}, 'Significant wave height, m'),
    element(
      'ol',
      {},
      ...HEIGHT_COLORS[theme].map((color, i) => {
        const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' })
        swatch.style.background = color
        return element('li', {}, swatch, labels[i])
      }),
    ),
  )
}

async function startMap(): Promise<void> {
  const place = byId('map')
  let first: { theme: Theme; satellites: boolean; globe: boolean; buoys: readonly MapBuoy[] }
  try {
    const { openMap } = await import('./map.ts')
    const { satellites, globe, camera } = scene.view
    first = { theme, satellites, globe, buoys: buoysOnMap ?? [] }
    map = await openMap(
      place,
      { ...first, camera },
      {
        onBuoy: (buoy) => update({ buoy, point: null }),
        onPoint: (point) => update({ buoy: null, point }),
        onMove: (camera) => update({ camera }),
        onDrawn: (count) => {
          if (count > 0 && place.dataset.drawn === undefined) performance.mark('buoys-drawn')
          place.dataset.drawn = String(count)
        },
      },
    )
  } catch {
    place.classList.add('no-map')
    place.replaceChildren(
      element(
        'p',
        {},
        'The map needs WebGL 2, which this browser does not offer. The list has the same buoys.',
      ),
    )
    return
  }
  // Since it was asked for, things may have changed.
  if (theme !== first.theme) map.setTheme(theme)
  if (scene.view.satellites !== first.satellites) map.setSatellites(scene.view.satellites)
  if (scene.view.globe !== first.globe) map.setGlobe(scene.view.globe)
  if (buoysOnMap !== null) showBuoys(buoysOnMap, first.buoys)
}

document.documentElement.dataset.theme = theme
darkPreferred.addEventListener('change', ({ matches }) => {
  if (keptTheme() === null) setTheme(matches ? 'dark' : 'light', false)
})
addEventListener('popstate', () => {
  // A key may have been pasted behind the address of an open page.
  const key = takeKeyFromAddress()
  if (key !== '') {
    api.key = key
    answers.clear()
    retry()
  }
  const before = scene.view
  scene.view = parseView(location.hash.slice(1))
  arrive(before)
  if (scene.view.camera !== null && JSON.stringify(scene.view.camera) !== JSON.stringify(before.camera)) {
    map?.moveTo(scene.view.camera)
  }
  map?.setGlobe(scene.view.globe)
  map?.setSatellites(scene.view.satellites)
  drawTools()
  redraw()
})
addEventListener('online', retry)
setInterval(refresh, REFRESH_MS)
setInterval(() => tickAges(clock()), TICK_MS)
document.addEventListener('visibilitychange', comeBack)
startSheet()
drawLegend()
drawTools()
searchBox(byId('search'), api, {
  onChosen: (buoy) => update({ buoy, point: null }),
  onTrouble: tell,
  announce,
})
if (scene.view.buoy !== null || scene.view.point !== null) {
  if (isSheet()) setSheet('half')
}
draw()
void startMap()
