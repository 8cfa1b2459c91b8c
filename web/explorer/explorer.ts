/**
 * The explorer: holds what is shown, draws the panel anew when that or an answer changes, and leads the map.
 */
import type { MapBuoysAnswer, SatellitePass } from '../../clients/typescript/groundswell.ts'
import { buoyAddress, isOfNow, mapAddress } from './addresses.ts'
import { type Answer, Answers } from './answers.ts'
import { type ActiveBuoy, Api, type ApiTrouble, ServerClock } from './api.ts'
import { Banner } from './banner.ts'
import { byId, element, tickAges } from './dom.ts'
import { keptKey, openKeyDialog, takeKeyFromAddress } from './key_dialog.ts'
import { followDemo, Live, LiveDot, watchSnapshot } from './live/live.ts'
import { passPoints, type Target } from './map/features.ts'
import type { BuoyMap, Look, MapEvents } from './map/map.ts'
import { isFavourite } from './mine/kept.ts'
import { chosenUnits, openUnits, unitsOf } from './mine/own_units.ts'
import type { SomeUnits, Units } from './mine/units.ts'
import { drawBuoy } from './panel/buoy.ts'
import { drawPoint } from './panel/conditions.ts'
import { Calm, coveredByPanel, isSheet, PanelFrame, setSheet, startSheet } from './panel/frame.ts'
import { drawForGuest, Guest } from './panel/guest.ts'
import { drawList, type ListState } from './panel/list.ts'
import type { Drawn } from './panel/pieces.ts'
import type { Scene, Theme } from './scene.ts'
import { addSearchBox } from './search.ts'
import { drawLegend, drawTools, PageTheme, type ToolEvents } from './tools.ts'
import { type Bounds, formatView, isSamePoint, parseView, type ViewState } from './view.ts'

/**
 * Without events a new snapshot is seen within this. Mostly that costs one call a minute, with an answer
 * without a body.
 */
const REFRESH_MS = 60_000
/**
 * A published snapshot that does not come by then is on other servers alone: the page asks again after these.
 */
const ASK_AGAIN_MS = [1000, 4000, 15_000] as const
/** Ages in the page are this much behind at most. */
const TICK_MS = 10_000

const NO_MAP = 'The map needs WebGL 2, which this browser does not offer. The list shows the same buoys.'

export class Explorer implements Scene {
  readonly clock: () => number
  readonly api: Api
  readonly answers: Answers
  view: ViewState
  units: Units
  buoys: readonly ActiveBuoy[] | null = null
  chosenPass: SatellitePass | null = null

  readonly #theme: PageTheme
  readonly #banner: Banner
  readonly #frame = new PanelFrame()
  readonly #list: ListState
  readonly #guest = new Guest(this)
  #map: BuoyMap | null = null
  #refreshedAt: number
  readonly #calm = new Calm(byId('content'))
  readonly #dot: LiveDot
  readonly #live: Live
  #isRedrawAsked = false
  /** The next drawing shows another snapshot. */
  #isNews = false

  /** `clock` gives epoch milliseconds by the visitor's machine. */
  constructor(clock: () => number) {
    const time = new ServerClock(clock)
    this.clock = time.now
    this.#refreshedAt = this.clock()
    const keyOfAddress = takeKeyFromAddress()
    const basePath = document.documentElement.dataset.basePath ?? ''
    const isOpen = document.documentElement.dataset.explorer === 'open'
    this.api = new Api(basePath, keyOfAddress || keptKey(), this.clock, isOpen)
    this.api.onDate = (date) => time.learn(date)
    this.answers = new Answers(this.api, (trouble, isNews) => {
      if (trouble === null) this.#dot.confirm()
      else this.#report(trouble)
      if (isNews) this.#isNews = true
      this.#calm.whenLetGo(() => this.#redraw())
    })
    this.#dot = new LiveDot(
      () => performance.now(),
      (text) => this.announce(text),
    )
    this.#live = new Live(this.api, {
      onSnapshot: ({ snapshot }) => this.#follow(snapshot),
      onState: (state) => {
        if (state === 'live') this.#retry()
        this.#dot.show(state)
      },
    })
    this.view = viewOfAddress()
    this.units = unitsOf(this.view.units)
    this.#theme = new PageTheme(() => this.#recolour())
    this.#banner = new Banner(this.api, this.clock, () => {
      this.#live.hurry()
      this.#retry()
    })
    this.#list = {
      order: 'height',
      all: false,
      onChange: () => this.#redraw(),
      onKey: () => this.#askForKey(''),
    }
  }

  /** Draws the page, and keeps it right from here on. */
  start(): void {
    followDemo(this.api)
    this.#followEvents()
    startSheet()
    drawLegend(this.units)
    this.#drawTools()
    addSearchBox(byId('search'), this.api, {
      onChosen: (buoy) => this.update({ buoy, point: null }),
      onTrouble: (trouble) => this.#report(trouble),
      announce: (text) => this.announce(text),
    })
    // The sheet also opens to show the invitation to enter a key, and after a phone was turned.
    if (this.api.isGuest || (!this.#isList() && isSheet())) setSheet('half')
    this.#draw()
    this.#live.start()
    void this.#startMap()
  }

  #followEvents(): void {
    addEventListener('popstate', () => this.#followAddress())
    addEventListener('offline', () => this.#live.doubt())
    addEventListener('online', () => {
      this.#live.hurry()
      this.#retry()
    })
    setInterval(() => this.#refresh(), REFRESH_MS)
    watchSnapshot(
      this.api,
      () => this.#live.state !== 'live',
      () => this.#refresh(),
    )
    setInterval(() => {
      tickAges(this.clock())
      this.#map?.tick()
      this.#dot.tick()
    }, TICK_MS)
    // Another page of this browser changed units or favourites.
    addEventListener('storage', () => this.#followStorage())
    document.addEventListener('visibilitychange', () => this.#comeBack())
  }

  get theme(): Theme {
    return this.#theme.current
  }

  announce(text: string): void {
    byId('announcer').textContent = text
  }

  /** A change of what the panel is about goes into the history, everything else only into the address. */
  update(patch: Partial<ViewState>): void {
    const before = this.view
    this.view = { ...before, ...patch }
    const isElsewhere = this.view.buoy !== before.buoy || !isSamePoint(this.view.point, before.point)
    const fragment = formatView(this.view)
    const address = `${location.pathname}${location.search}${fragment === '' ? '' : `#${fragment}`}`
    if (isElsewhere) history.pushState(null, '', address)
    else history.replaceState(null, '', address)
    if (isElsewhere) this.#arrive(before)
    if (Object.keys(patch).some((name) => name !== 'camera')) this.#redraw()
  }

  mapBounds(): Bounds | null {
    return this.#map?.bounds() ?? null
  }

  choosePass(pass: SatellitePass | null): void {
    this.chosenPass = pass
    if (isSheet() && pass !== null) setSheet('half')
    this.#map?.setPass(pass === null ? [] : passPoints(pass, this.buoys ?? []), coveredByPanel())
    this.#redraw()
  }

  #isList(): boolean {
    return this.view.buoy === null && this.view.point === null
  }

  /** The panel is about something else now. */
  #arrive(before: ViewState): void {
    const isList = this.#isList()
    this.#frame.turnTo(isList && before.buoy !== null ? rowOf(before.buoy) : null)
    if (isSheet()) setSheet(isList && !this.api.isGuest ? 'peek' : 'half')
    this.#showOnMap()
  }

  /** The visitor went back or forth, or changed the address by hand. */
  #followAddress(): void {
    // The address of an open page may bring a key.
    const key = takeKeyFromAddress()
    if (key !== '') {
      this.api.key = key
      this.answers.clear()
      this.#retry()
      this.#live.start()
    }
    const before = this.view
    this.view = viewOfAddress()
    this.#arrive(before)
    this.#takeUnits(this.view.units)
    const { camera } = this.view
    if (camera !== null && JSON.stringify(camera) !== JSON.stringify(before.camera)) this.#map?.moveTo(camera)
    this.#showLook()
    this.#redraw()
  }

  /** The panel stays where it is: only its content may change. */
  #followStorage(): void {
    this.view = { ...this.view, units: viewOfAddress().units }
    this.#takeUnits(this.view.units)
    this.#redraw()
  }

  #redraw(): void {
    if (this.#isRedrawAsked) return
    this.#isRedrawAsked = true
    // Several answers may come at once.
    queueMicrotask(() => {
      this.#isRedrawAsked = false
      this.#draw()
    })
  }

  #draw(): void {
    this.answers.beginDrawing()
    this.#takeBuoys(this.api.isGuest ? this.#guest.buoys() : this.answers.get(mapAddress(this)))
    const { buoy, point } = this.view
    if (buoy !== null && this.#activeBuoy(buoy) === undefined) this.#map?.mark(this.#targetOf(buoy))
    const drawn = this.#drawPanel()
    const about = `${buoy ?? ''} ${point?.lat ?? ''} ${point?.lng ?? ''}`
    // The charts of some days have other dates in another snapshot: what is read stays until they have come.
    if (this.#isNews && this.answers.isWaiting && this.#frame.isAbout(about)) return
    this.#frame.show(drawn, about, this.#isNews)
    this.#isNews = false
    document.title = this.#isList() ? 'groundswell · wave buoys now' : `${drawn.title} · groundswell`
  }

  #drawPanel(): Drawn {
    const { buoy, point } = this.view
    if (this.api.isGuest) return drawForGuest(this, this.#guest, this.#list)
    if (buoy !== null) return drawBuoy(this, buoy, () => this.#redraw())
    return point === null ? drawList(this, this.#list) : drawPoint(this, point)
  }

  #takeBuoys(answer: Answer<Pick<MapBuoysAnswer['data'], 'buoys'>>): void {
    if (answer.state !== 'here' || answer.data.buoys === this.buoys) return
    this.buoys = answer.data.buoys
    this.#map?.setBuoys(this.buoys)
    this.#showBuoys(this.buoys)
  }

  /** Brings new buoys into view, unless the visitor looks at something already. */
  #showBuoys(buoys: readonly ActiveBuoy[]): void {
    if (this.view.camera === null && this.view.buoy === null) {
      this.#map?.fit(this.view.satellites ? buoys : buoys.filter(({ virtual }) => !virtual), coveredByPanel())
    }
    this.#showOnMap()
  }

  /** Marks and brings into view what the panel is about. */
  #showOnMap(): void {
    const { buoy, point } = this.view
    const target = buoy === null ? point : this.#targetOf(buoy)
    this.#map?.mark(target)
    if (target !== null) this.#map?.goTo(target, coveredByPanel())
  }

  #activeBuoy(slug: string): ActiveBuoy | undefined {
    return this.buoys?.find((buoy) => buoy.slug === slug)
  }

  /**
   * Buoys without a recent reading are not among the active ones; their position comes with their details.
   */
  #targetOf(slug: string): Target | null {
    const active = this.#activeBuoy(slug)
    if (active !== undefined) return active
    if (this.api.isGuest) {
      const found = this.#guest.buoy(slug)
      return found.state === 'here' ? found.data.buoy : null
    }
    const answer = this.answers.get(buoyAddress(this, slug))
    return answer.state === 'here' ? answer.data.buoy : null
  }

  /** Shows what is wrong and when the page goes on, which it then does by itself. */
  #report(trouble: ApiTrouble): void {
    if (trouble.kind === 'unauthorized') {
      if (this.api.key !== '')
        this.#askForKey('The server does not accept this key. It may have been replaced.')
      else this.#becomeGuest()
      return
    }
    // The panel shows these.
    if (trouble.kind === 'not found' || trouble.kind === 'refused') return
    this.#banner.show(trouble)
  }

  /**
   * The server opens its pages to others, not to this visitor. A proxy may be on the way. Else the address is
   * neither HTTPS nor loopback, and the browser does not tell which page asks.
   */
  #becomeGuest(): void {
    if (this.api.isGuest) return
    this.api.isOpen = false
    this.answers.clear()
    setSheet('half')
    this.#redraw()
  }

  #retry(): void {
    this.#banner.hide()
    this.answers.forgetFailures()
    this.#redraw()
  }

  #askForKey(message: string): void {
    const { key: current, quota, isOpen } = this.api
    openKeyDialog({ key: current, quota, isOpen, message }, (key) => {
      this.api.key = key
      this.api.quota = null
      this.buoys = null
      this.#map?.setBuoys([])
      this.answers.clear()
      this.#retry()
      this.#live.start()
      this.#drawTools()
    })
  }

  #refresh(): void {
    if (document.visibilityState !== 'visible') return
    this.#refreshedAt = this.clock()
    this.answers.refresh(isOfNow, this.#live.state !== 'live')
  }

  /** A snapshot is published: shows it, and asks again where the server that answers does not have it yet. */
  #follow(snapshot: string, tries = 0): void {
    const wait = ASK_AGAIN_MS[tries]
    if (this.answers.snapshot === snapshot) return
    if (this.answers.snapshot !== null) this.answers.refresh(isOfNow)
    if (wait !== undefined)
      setTimeout(() => this.#live.last === snapshot && this.#follow(snapshot, tries + 1), wait)
  }

  /** A page that comes into view again shows what is so now. */
  #comeBack(): void {
    this.#live.see(document.visibilityState === 'visible')
    if (document.visibilityState !== 'visible') return
    tickAges(this.clock())
    this.#map?.tick()
    if (this.clock() - this.#refreshedAt >= REFRESH_MS) this.#refresh()
  }

  #recolour(): void {
    drawLegend(this.units)
    this.#showLook()
    this.#redraw()
  }

  #takeUnits(units: SomeUnits): void {
    this.units = unitsOf(units)
    drawLegend(this.units)
    this.#map?.setLook(this.#look())
  }

  #look(): Look {
    return { theme: this.theme, satellites: this.view.satellites, globe: this.view.globe, units: this.units }
  }

  /** Brings map and buttons in line with theme and view. */
  #showLook(): void {
    this.#map?.setLook(this.#look())
    this.#drawTools()
  }

  #drawTools(): void {
    drawTools({ ...this.#look(), hasKey: this.api.key !== '' }, this.#toolEvents)
  }

  readonly #toolEvents: ToolEvents = {
    onKey: () => this.#askForKey(''),
    onTheme: () => this.#theme.toggle(),
    onUnits: () =>
      openUnits(this.view.units, (units) => {
        this.#takeUnits(units)
        this.update({ units })
      }),
    onZoom: (levels) => this.#map?.zoomBy(levels),
    onGlobe: () => {
      this.update({ globe: !this.view.globe })
      this.#showLook()
    },
    onSatellites: () => this.#toggleSatellites(),
    onAim: () => {
      if (this.#map !== null) this.update({ buoy: null, point: this.#map.center() })
    },
  }

  #toggleSatellites(): void {
    const satellites = !this.view.satellites
    // The list of passes is part of the list of buoys.
    this.update(satellites ? { satellites, buoy: null, point: null } : { satellites })
    if (!satellites) this.choosePass(null)
    this.#showLook()
  }

  async #startMap(): Promise<void> {
    const host = byId('map')
    let first: readonly ActiveBuoy[]
    try {
      const { openMap } = await import('./map/map.ts')
      first = this.buoys ?? []
      const { camera } = this.view
      this.#map = await openMap(
        host,
        { ...this.#look(), camera, buoys: first, clock: this.clock },
        this.#mapEvents(host),
      )
    } catch {
      host.classList.add('no-map')
      host.replaceChildren(element('p', {}, NO_MAP))
      return
    }
    // Much may have changed while the map was on its way.
    this.#map.setLook(this.#look())
    if (this.buoys === null) return
    if (this.buoys !== first) this.#map.setBuoys(this.buoys)
    this.#showBuoys(this.buoys)
  }

  #mapEvents(host: HTMLElement): MapEvents {
    return {
      onBuoy: (buoy) => this.update({ buoy, point: null }),
      onPoint: (point) => this.update({ buoy: null, point }),
      onMove: (camera) => {
        this.update({ camera })
        // There may be more to find where the visitor looks now.
        if (this.api.isGuest) this.#redraw()
      },
      onDrawn: (count) => {
        if (count > 0 && host.dataset.drawn === undefined) performance.mark('buoys-drawn')
        host.dataset.drawn = String(count)
      },
    }
  }
}

/** The row of a buoy in the list; a favourite stands first, and is looked for there. */
const rowOf = (slug: string): string => `${isFavourite(slug) ? 'favourite' : 'row'}-${slug}`

/** The view of the address; units that it leaves open are those that the visitor once chose here. */
function viewOfAddress(): ViewState {
  const view = parseView(location.hash.slice(1))
  return { ...view, units: { ...chosenUnits(), ...view.units } }
}
