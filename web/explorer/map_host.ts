/** Leads the map: gives it what the page shows, and takes what the visitor does on it. */
import { computed, effect } from '@preact/signals'
import type { ActiveBuoy } from './api.ts'
import { passPoints, type Target } from './map/features.ts'
import type { BuoyMap, Look, MapEvents } from './map/map.ts'
import { coveredByPanel } from './panel/panel.tsx'
import {
  about,
  buoys,
  byId,
  chosenPass,
  clock,
  map,
  now,
  openBuoy,
  page,
  units,
  update,
  view,
} from './store.ts'
import { theme } from './theme.ts'

const NO_MAP = 'The map needs WebGL 2, which this browser does not offer. The list shows the same buoys.'

const look = computed<Look>(() => {
  const { satellites, globe } = view.value
  return { theme: theme.value, satellites, globe, units: units.value }
})

/** What the panel is about; null while its position is not known. */
const target = computed<Target | null>(() => {
  const { buoy: slug, point } = view.value
  if (slug === null) return point
  const active = buoys.value?.find((buoy) => buoy.slug === slug)
  if (active !== undefined) return active
  // Buoys without a recent reading are not among the active ones; their position comes with their details.
  const { subject } = page.value
  if (subject.kind === 'buoy' && subject.buoy.slug === slug) return subject.buoy
  if (subject.kind !== 'guest buoy' || subject.slug !== slug) return null
  return subject.answer.state === 'here' ? subject.answer.data.buoy : null
})

/** Opens the map once the list can be read: it is most of what the page loads. */
export function startMap(): void {
  let isAsked = false
  effect(() => {
    if (isAsked || page.value.buoys.state === 'waiting') return
    isAsked = true
    // After the list has been drawn.
    setTimeout(() => void openMap())
  })
}

async function openMap(): Promise<void> {
  const host = byId('map')
  for (const href of (host.dataset.modules ?? '').split(' ')) {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }))
  }
  try {
    const { openMap: open } = await import('./map/map.ts')
    const first = buoys.peek() ?? []
    const opening = { ...look.peek(), camera: view.peek().camera, buoys: first, clock }
    map.value = await open(host, opening, eventsOf(host))
    // The visitor may have gone elsewhere while it was on its way.
    const { camera } = view.peek()
    if (camera !== null && camera !== opening.camera) map.value.moveTo(camera)
    lead(map.value, first)
  } catch {
    host.classList.add('no-map')
    host.textContent = NO_MAP
  }
}

function eventsOf(host: HTMLElement): MapEvents {
  return {
    onBuoy: openBuoy,
    onPoint: (point) => update({ buoy: null, point }),
    onMove: (camera) => update({ camera }),
    onDrawn: (count) => {
      if (count > 0 && host.dataset.drawn === undefined) performance.mark('buoys-drawn')
      host.dataset.drawn = String(count)
    },
  }
}

/** `drawn` are the buoys that the map has. Much may have changed while it was on its way. */
function lead(shown: BuoyMap, drawn: readonly ActiveBuoy[]): void {
  effect(() => shown.setLook(look.value))
  effect(() => {
    const all = buoys.value ?? []
    if (all !== drawn) shown.setBuoys(all)
    drawn = all
    const { camera, buoy, satellites } = view.peek()
    // Unless the visitor looks at something already.
    if (camera === null && buoy === null && chosenPass.peek() === null) {
      shown.fit(satellites ? all : all.filter(({ virtual }) => !virtual), coveredByPanel())
    }
  })
  let reached = ''
  effect(() => {
    shown.mark(target.value)
    if (target.value === null && about.value !== '') return
    if (target.value !== null && about.value !== reached) shown.goTo(target.value, coveredByPanel())
    reached = about.value
  })
  let hasPass = false
  effect(() => {
    const pass = chosenPass.value
    if (pass !== null) shown.setPass(passPoints(pass, buoys.peek() ?? []), coveredByPanel())
    else if (hasPass) shown.setPass([], coveredByPanel())
    hasPass = pass !== null
  })
  effect(() => {
    void now.value
    shown.tick()
  })
}
