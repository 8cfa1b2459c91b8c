/** Loads the map once the list can be read: it is most of what the page loads. */
import { effect } from '@preact/signals'
import { byId, page } from './store.ts'

const NO_MAP = 'The map needs WebGL 2, which this browser does not offer. The list shows the same buoys.'

export function startMap(): void {
  let isAsked = false
  effect(() => {
    if (isAsked || page.value.buoys.state === 'waiting') return
    isAsked = true
    // After the list has been drawn.
    setTimeout(() => void load(byId('map')))
  })
}

async function load(host: HTMLElement): Promise<void> {
  for (const href of (host.dataset.modules ?? '').split(' ')) {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }))
  }
  try {
    const { openMap } = await import('./map/map.ts')
    await openMap(host)
  } catch {
    host.classList.add('no-map')
    host.textContent = NO_MAP
  }
}
