/**
 * The panel: what the page is about, in the place that the visitor has scrolled to. On a narrow screen it is
 * a sheet over the map, with one of three heights, and a handle.
 */
import { effect, signal } from '@preact/signals'
import { type ComponentType, Fragment } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Invitation } from '../dialogs.tsx'
import { texts } from '../language.ts'
import { aboutOf, type Page, type SubjectOf, titleOf } from '../page.ts'
import { Back, Choices, Heading, Tool, Whereabouts } from '../pieces.tsx'
import { api, byId, favourites, page, sheet, SHEET_HEIGHTS, SITE, toggle, update } from '../store.ts'
import { Downloads } from './downloads.tsx'
import { BuoyList, NearMe } from './list.tsx'
import { Known, Now } from './now.tsx'
import { PlacePanel } from './place.tsx'
import { Seasons } from './seasons.tsx'
import { Share } from './share.tsx'

/** A component whose code few visitors need. A load that fails is tried again at the next opening. */
function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const code = signal<ComponentType<P> | null>(null)
  return (props) => {
    const Loaded = code.value
    useEffect(() => {
      if (Loaded === null)
        load()
          .then((loaded) => (code.value = loaded))
          .catch(() => undefined)
    }, [Loaded])
    return Loaded === null ? null : <Loaded {...props} />
  }
}

const SpectrumTab = later(async () => (await import('./spectrum.tsx')).SpectrumPanel)
const ClimateTab = later(async () => (await import('./climate.tsx')).ClimatePanel)

export function Panel() {
  const shown = page.value
  const content = useRef<HTMLDivElement>(null)
  useKeptPlace(content, shown)
  const about = aboutOf(shown.view)
  return (
    <>
      <Handle />
      <div id="content" ref={content}>
        <Fragment key={about}>
          {about === '' ? null : <Back />}
          {/* It stays, and the focus on it, when more becomes known of what it names. */}
          <Heading>
            {shown.subject.kind === 'list' ? <NearMe /> : null}
            {about === '' || shown.subject.kind === 'known' ? null : (
              <span class="row">
                <Share />
                <Star slug={about} name={titleOf(shown, api.isGuest)} />
              </span>
            )}
          </Heading>
          <Subject {...shown} />
        </Fragment>
      </div>
    </>
  )
}

function Subject({ subject }: Page) {
  switch (subject.kind) {
    case 'list':
      return <BuoyList {...subject} />
    case 'buoy':
      return <BuoyPanel {...subject} />
    case 'known':
      return <KnownPanel {...subject} />
    case 'point':
      return <PlacePanel {...subject} />
  }
}

function KnownPanel(subject: SubjectOf<'known'>) {
  const more = subject.known === null ? texts.panel.byNumber : texts.panel.needsKey
  return (
    <>
      <Known {...subject} />
      {api.isGuest ? <Invitation text={more} /> : null}
    </>
  )
}

function BuoyPanel({ buoy, now, seasons, spectrum, climate }: SubjectOf<'buoy'>) {
  const { tab } = page.value.view
  const { panel } = texts
  // An address may ask for the spectra of a buoy that has none.
  const isSpectral = buoy.spectrum != null || tab === 'spectrum'
  const options = {
    now: panel.now,
    seasons: panel.seasons,
    ...(isSpectral && { spectrum: panel.spectrum }),
    climate: texts.climate.tab,
  }
  return (
    <>
      <Whereabouts buoy={buoy} />
      <Choices
        name="tab"
        label={panel.views}
        options={options}
        chosen={tab === 'card' ? 'now' : tab}
        onChoice={(next) => update({ tab: next })}
      />
      {now === null ? null : <Now buoy={buoy} now={now} />}
      {seasons === null ? null : <Seasons buoy={buoy} answer={seasons.answer} />}
      {spectrum === null ? null : <SpectrumTab buoy={buoy} spectrum={spectrum} />}
      {climate === null ? null : <ClimateTab buoy={buoy} climate={climate} />}
      <Downloads />
    </>
  )
}

/** Puts the buoy or place on the visitor's list, or takes it off. */
function Star({ slug, name }: { slug: string; name: string }) {
  const isOn = favourites.value.some((each) => each.slug === slug)
  return (
    <Tool
      name="star"
      id="star"
      class="tool star"
      label={texts.panel.favourite}
      title={isOn ? texts.panel.removeFavourite : texts.panel.addFavourite}
      onClick={() => toggle({ slug, name })}
      aria-pressed={isOn}
    />
  )
}

/**
 * The text that the visitor reads stays in its place on the screen, even if rows come above it, and the focus
 * stays. A panel about something else begins at its top, and gets the focus as soon as it is drawn: its
 * heading, or in the list the row that the visitor came from.
 */
function useKeptPlace(content: { current: HTMLElement | null }, shown: Page): void {
  const { view } = shown
  const title = titleOf(shown, api.isGuest)
  const former = useRef(view)
  const due = useRef<string | null>(null)
  const isSame = aboutOf(former.current) === aboutOf(view)
  // Nothing has been changed yet.
  const focused = content.current?.contains(document.activeElement) === true ? document.activeElement : null
  const anchor = isSame ? anchorIn(content.current, focused) : null
  useLayoutEffect(() => {
    const panel = content.current
    if (panel === null) return
    if (!isSame) {
      panel.scrollTop = 0
      due.current = aboutOf(view) === '' && former.current.buoy !== null ? rowOf(former.current.buoy) : 'h2'
    }
    former.current = view
    if (anchor?.node.isConnected === true) panel.scrollTop += topOf(anchor.node) - anchor.top
    // A row that is moved within the list loses it in some browsers.
    if (focused?.isConnected === true && focused !== document.activeElement) {
      ;(focused as HTMLElement).focus({ preventScroll: true })
    }
    // The list may still be on its way.
    const next = due.current === null ? null : panel.querySelector<HTMLElement>(due.current)
    if (next === null) return
    next.focus({ preventScroll: next.tagName === 'H2' })
    due.current = null
  })
  useLayoutEffect(() => {
    content.current?.parentElement?.setAttribute('aria-label', title)
    document.title = aboutOf(view) === '' ? `${SITE} · ${texts.page.title}` : `${title} · ${SITE}`
  }, [title])
}

const topOf = (node: Element): number => node.getBoundingClientRect().top

/** The row of a buoy in the list; a favourite comes first, and is found first. */
const rowOf = (slug: string): string =>
  ['favourite', 'row'].map((list) => `#${list}-${CSS.escape(slug)}`).join()

/** The control with the focus, or the first in sight, and where it is; null at the top of the panel. */
function anchorIn(panel: HTMLElement | null, focused: Element | null): { node: Element; top: number } | null {
  if (panel === null || panel.scrollTop === 0) return null
  const { top, bottom } = panel.getBoundingClientRect()
  const isInSight = (node: Element): boolean => topOf(node) >= top && topOf(node) < bottom
  const node =
    focused !== null && isInSight(focused) ? focused : [...panel.querySelectorAll('[id]')].find(isInSight)
  return node === undefined ? null : { node, top: topOf(node) }
}

/** A drag as long as this means the next height. */
const DRAG_PIXELS = 36
/** A sheet that covers more leaves the map no room to bring a buoy into view. */
const COVERED_SHARE = 0.6

const narrow = matchMedia('(max-width: 760px)')

/** Pixels of the map, from its bottom, that the panel covers; on a wide screen it is next to the map. */
export function coveredByPanel(): number {
  const { height } = byId('panel').getBoundingClientRect()
  return narrow.matches ? Math.min(height, innerHeight * COVERED_SHARE) : 0
}

effect(() => {
  document.body.dataset.sheet = sheet.value
})

export function Handle() {
  const drag = useRef({ startY: 0, isDrag: false })
  const at = SHEET_HEIGHTS.indexOf(sheet.value)
  const show = (height: number): void => {
    sheet.value = SHEET_HEIGHTS[height] ?? sheet.peek()
  }
  const onPointerDown = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    drag.current = { startY: event.clientY, isDrag: false }
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const onPointerUp = (event: PointerEvent): void => {
    const by = drag.current.startY - event.clientY
    drag.current.isDrag = Math.abs(by) >= DRAG_PIXELS
    if (drag.current.isDrag) show(at + Math.sign(by))
  }
  return (
    <button
      id="handle"
      type="button"
      aria-expanded={sheet.value !== 'peek'}
      aria-controls="content"
      onClick={() => drag.current.isDrag || show((at + 1) % SHEET_HEIGHTS.length)}
      onPointerDown={onPointerDown}
      onPointerUp={onPointerUp}
    >
      <span class="hidden">{sheet.value === 'full' ? texts.panel.less : texts.panel.more}</span>
    </button>
  )
}
