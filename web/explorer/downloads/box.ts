/**
 * The box of a panel that offers what it shows as files. Its code is loaded when a visitor first opens it.
 */
import { element } from '../dom.ts'
import type { Scene } from '../scene.ts'
import type * as Menu from './menu.ts'
import type { Offer } from './offers.ts'

let menu: typeof Menu | null = null

/** `offersOf` is called when the box opens: what is in view or searched for may have changed until then. */
export function downloadBox(scene: Scene, offersOf: (menu: typeof Menu) => readonly Offer[]): HTMLElement {
  const body = element('div', {}, 'Loading …')
  const fill = (): void => {
    const loaded = menu
    loaded?.fill(body, scene, () => offersOf(loaded))
  }
  const open = (): void => {
    if (!box.open) return
    import('./menu.ts').then(
      (loaded) => {
        menu = loaded
        fill()
      },
      () => body.replaceChildren('The downloads could not be loaded. Close this and open it again.'),
    )
  }
  const box = element(
    'details',
    { class: 'calls', id: 'downloads', ontoggle: open },
    element('summary', {}, 'Download'),
    body,
  )
  // A panel that is drawn anew keeps the focus on a button only where that is there at once.
  fill()
  return box
}
