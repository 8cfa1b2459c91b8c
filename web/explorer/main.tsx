/** Starts the explorer: puts its components into the page, and follows what changes. */
import { effect } from '@preact/signals'
import { render } from 'preact'
import { Dialogs } from './dialogs.tsx'
import { texts } from './language.ts'
import { startFollowing } from './live/following.ts'
import { Panel } from './panel/panel.tsx'
import { Search } from './search.tsx'
import { Banner, LiveDot } from './status.tsx'
import { api, byId, page, pause, SITE } from './store.ts'
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

/** Resolves once the list can be read. */
const listed = (): Promise<void> =>
  new Promise((resolve) => {
    const end = effect(() => {
      if (page.value.buoys.state === 'waiting') return
      // After the list has been drawn.
      setTimeout(() => {
        end()
        resolve()
      })
    })
  })

/**
 * A picture of the map comes with the list. MapLibre, which is most of what the page loads, comes after both
 * and takes its place.
 */
async function loadMap(host: HTMLElement): Promise<void> {
  const isListed = listed()
  const still = await import('./map/still.ts')
    .then(({ showStill }) => showStill(host, isListed))
    .catch(() => null)
  await isListed
  for (const href of (host.dataset.modules ?? '').split(' ')) {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }))
  }
  try {
    const { openMap } = await import('./map/map.ts')
    await openMap(host)
    if (still === null) performance.mark('dots')
    still?.remove()
  } catch {
    // The picture stays.
    host.classList.add('no-map')
    host.replaceChildren(
      Object.assign(document.createElement('p'), { className: 'box', textContent: texts.page.noMap }),
    )
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

/** Answers load while the texts load. */
async function start(): Promise<void> {
  showOperator()
  await pause()
  await translateDocument()
  await pause()
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
  void loadMap(byId('map'))
}

void start()
