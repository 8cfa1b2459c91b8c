/** Starts the explorer: puts its components into the page, and follows what changes. */
import { effect } from '@preact/signals'
import { render } from 'preact'
import { Dialogs } from './dialogs.tsx'
import { texts } from './language.ts'
import { startFollowing } from './live/following.ts'
import { Panel } from './panel/panel.tsx'
import { Search } from './search.tsx'
import { Banner, LiveDot } from './status.tsx'
import { api, byId, page, SITE } from './store.ts'
import { translateDocument } from './translate.ts'
import { Beyond, Legend, MapTools, PageTools } from './tools.tsx'

function OverMap() {
  return (
    <>
      <LiveDot />
      <Beyond />
      <MapTools />
      <Legend />
    </>
  )
}

/** Loads the map once the list can be read: it is most of what the page loads. */
function startMap(): void {
  let isAsked = false
  effect(() => {
    if (isAsked || page.value.buoys.state === 'waiting') return
    isAsked = true
    // After the list has been drawn.
    setTimeout(() => void loadMap(byId('map')))
  })
}

async function loadMap(host: HTMLElement): Promise<void> {
  for (const href of (host.dataset.modules ?? '').split(' ')) {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }))
  }
  try {
    const { openMap } = await import('./map/map.ts')
    await openMap(host)
  } catch {
    host.classList.add('no-map')
    host.textContent = texts.page.noMap
  }
}

/** The operator's logo takes the place of ours, and our name goes to the licences. */
function showOperator(): void {
  const head = document.querySelector<HTMLElement>('h1[data-logo]')
  const { logo = '' } = head?.dataset ?? {}
  // Its name stands beside it.
  if (logo !== '') head?.querySelector('svg')?.replaceWith(Object.assign(new Image(), { src: logo, alt: '' }))
  byId('maker').hidden = logo === '' && SITE === 'groundswell'
}

/** The answers are on their way while the texts are. */
async function start(): Promise<void> {
  showOperator()
  await translateDocument()
  render(<Search />, byId('search'))
  render(<PageTools />, byId('tools'))
  render(<Banner />, byId('notice'))
  render(<Panel />, byId('panel'))
  render(<OverMap />, byId('over-map'))
  render(<Dialogs />, byId('dialogs'))
  effect(() => {
    byId('demo').hidden = api.isDemo.value !== true
  })
  startFollowing()
  startMap()
}

void start()
