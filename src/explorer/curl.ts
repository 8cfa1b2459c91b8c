/** The calls behind a panel, as curl lines to copy. */
import { curlLine } from './addresses.ts'
import { element } from './dom.ts'
import { whereKeysComeFrom } from './key_dialog.ts'
import type { Scene } from './scene.ts'

const HIDDEN_KEY = 'YOUR_KEY'
const NEEDS_KEY = 'This page works without a key; programs need one in place of YOUR_KEY.'

/** `calls` are addresses from the server's root. The key is copied but not shown, as screens are shared. */
export function curlBox(scene: Scene, calls: readonly { label: string; address: string }[]): HTMLElement {
  const { key } = scene.api
  return element(
    'details',
    { class: 'calls', id: 'calls' },
    element('summary', {}, 'Get this from the API'),
    ...calls.map(({ label, address }) => {
      const whole = new URL(address, document.baseURI).href
      const copy = element(
        'button',
        {
          type: 'button',
          class: 'small',
          'aria-label': `Copy curl: ${label}`,
          onclick: () => void copyLine(scene, copy, curlLine(whole, key === '' ? HIDDEN_KEY : key)),
        },
        'Copy curl',
      )
      return element(
        'div',
        { class: 'call' },
        element('div', { class: 'call-head' }, element('span', {}, label), copy),
        element('pre', { tabindex: 0 }, element('code', {}, curlLine(whole, HIDDEN_KEY))),
      )
    }),
    element('p', { class: 'note' }, key === '' ? NEEDS_KEY : 'The copied line contains your key.'),
    key === '' ? whereKeysComeFrom() : null,
  )
}

async function copyLine(scene: Scene, button: HTMLElement, line: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(line)
    button.textContent = 'Copied'
    scene.announce('The curl line was copied.')
  } catch {
    // Without HTTPS a browser may refuse. Then the page shows the whole line and selects it.
    const code = button.closest('.call')?.querySelector('code')
    if (code === null || code === undefined) return
    code.textContent = line
    getSelection()?.selectAllChildren(code)
    scene.announce('The line is selected: copy it with your keyboard.')
  }
}
