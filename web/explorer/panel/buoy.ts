/** The panel of one buoy: its name and position, and below them one of two tabs. */
import type { BuoyDetail } from '../../../clients/typescript/groundswell.ts'
import { buoyAddress } from '../addresses.ts'
import type { Answer } from '../answers.ts'
import { element, icon } from '../dom.ts'
import { isFavourite, toggleFavourite } from '../mine/kept.ts'
import { chosenZone, type Scene } from '../scene.ts'
import type { ViewState } from '../view.ts'
import { drawNow } from './now.ts'
import { back, type Drawn, heading, instead, whereaboutsOf } from './pieces.ts'
import { drawSeasons } from './seasons.ts'

const STAR_ICON = 'M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9L3.5 9.7l5.9-.8z'

type Tab = ViewState['tab']

/** `redraw` is called when the code of the charts has come. */
export function drawBuoy(scene: Scene, slug: string, redraw: () => void): Drawn {
  const answer = scene.answers.get(buoyAddress(scene, slug))
  if (answer.state !== 'here') return drawMissing(scene, slug, answer)
  const { buoy } = answer.data
  const { tab } = scene.view
  const { nodes, ...body } =
    tab === 'now'
      ? drawNow(scene, buoy, chosenZone(scene, buoy.timezone), redraw)
      : drawSeasons(scene, buoy, redraw)
  return {
    ...body,
    nodes: [
      back(scene),
      element('div', { class: 'title' }, heading(buoy.name), star(scene, buoy, redraw)),
      element('p', { class: 'sub' }, whereaboutsOf(buoy)),
      element(
        'div',
        { role: 'tablist', class: 'tabs', 'aria-label': 'Views' },
        tabButton(scene, 'now', 'Now'),
        tabButton(scene, 'seasons', 'Seasons'),
      ),
      element(
        'div',
        { role: 'tabpanel', id: 'tab-panel', 'aria-labelledby': `tab-${tab}` },
        ...nodes.filter((node) => node !== null),
      ),
    ],
  }
}

/** Puts the buoy on the visitor's list, or takes it off. */
function star(scene: Scene, { slug, name }: BuoyDetail, redraw: () => void): HTMLElement {
  const isOn = isFavourite(slug)
  const label = isOn ? 'Remove from favourites' : 'Add to favourites'
  const toggle = (): void => {
    const isNowOn = toggleFavourite({ slug, name })
    scene.announce(`${name} is ${isNowOn ? 'now' : 'no longer'} a favourite.`)
    redraw()
  }
  return element(
    'button',
    {
      type: 'button',
      class: 'tool star',
      id: 'star',
      title: label,
      'aria-label': 'Favourite',
      'aria-pressed': String(isOn),
      onclick: toggle,
    },
    icon(STAR_ICON),
  )
}

function drawMissing(scene: Scene, slug: string, answer: Answer<unknown>): Drawn {
  // The map knows the name while the details are on their way.
  const name = scene.buoys?.find((buoy) => buoy.slug === slug)?.name ?? slug
  const isUnknown = answer.state === 'failed' && answer.trouble.kind === 'not found'
  return {
    title: name,
    nodes: [back(scene), heading(isUnknown ? 'No such buoy' : name), instead(answer, 'the buoy')],
  }
}

function tabButton(scene: Scene, tab: Tab, label: string): HTMLElement {
  const isChosen = scene.view.tab === tab
  return element(
    'button',
    {
      type: 'button',
      role: 'tab',
      id: `tab-${tab}`,
      'aria-selected': String(isChosen),
      'aria-controls': 'tab-panel',
      tabindex: isChosen ? 0 : -1,
      onclick: () => scene.update({ tab }),
      onkeydown: (event) => {
        if (['ArrowLeft', 'ArrowRight'].includes((event as KeyboardEvent).key)) openOther(scene, tab)
      },
    },
    label,
  )
}

function openOther(scene: Scene, tab: Tab): void {
  const other = tab === 'now' ? 'seasons' : 'now'
  scene.update({ tab: other })
  document.getElementById(`tab-${other}`)?.focus()
}
