/** The calls behind a panel, as curl lines to copy. */
import { curlLine } from './addresses.ts'
import { copyText, element } from './dom.ts'
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
      const code = element('code', {}, curlLine(whole, HIDDEN_KEY))
      const copyLine = async (): Promise<void> => {
        const isCopied = await copyText(curlLine(whole, key === '' ? HIDDEN_KEY : key), copy, code)
        scene.announce(
          isCopied ? 'The curl line was copied.' : 'The line is selected: copy it with your keyboard.',
        )
      }
      const copy = element(
        'button',
        {
          type: 'button',
          class: 'small',
          'aria-label': `Copy curl: ${label}`,
          onclick: () => void copyLine(),
        },
        'Copy curl',
      )
      return element(
        'div',
        { class: 'call' },
        element('div', { class: 'call-head' }, element('span', {}, label), copy),
        element('pre', { tabindex: 0 }, code),
      )
    }),
    element('p', { class: 'note' }, key === '' ? NEEDS_KEY : 'The copied line contains your key.'),
    key === '' ? whereKeysComeFrom() : null,
  )
}
