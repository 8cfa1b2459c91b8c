/** Makes elements. Text goes in as text, so no name from a source can become markup. */

import { agoText, isOld } from './format.ts'

type Value = string | number | boolean | EventListener | null

/**
 * An element with attributes and children. A function becomes a listener (`onclick` listens to `click`),
 * `true` an attribute without a value; `false` and null leave the attribute out.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: { readonly [name: string]: Value } = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.slice(2), value)
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children.filter((child) => child !== null))
  return made
}

/** How long ago `time` (ISO 8601) was, as a text that `tickAges` keeps right. */
export function ago(time: string, now: number): HTMLElement {
  const at = Date.parse(time)
  return element('time', { datetime: time, class: isOld(at, now) ? 'ago old' : 'ago' }, agoText(at, now))
}

/** Brings every age in the page up to `now`, epoch milliseconds. */
export function tickAges(now: number): void {
  for (const node of document.querySelectorAll<HTMLTimeElement>('time.ago')) {
    const at = Date.parse(node.dateTime)
    const text = agoText(at, now)
    if (node.textContent !== text) node.textContent = text
    node.classList.toggle('old', isOld(at, now))
  }
}

const SVG = 'http://www.w3.org/2000/svg'

/**
 * A drawing of 24 by 24 units from the path data of its strokes, hidden from screen readers as decoration.
 */
export function icon(path: string, classes = 'icon'): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('class', classes)
  svg.setAttribute('aria-hidden', 'true')
  const stroke = document.createElementNS(SVG, 'path')
  stroke.setAttribute('d', path)
  svg.append(stroke)
  return svg
}

/** A variable of the page's style. */
export function variable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/**
 * Copies `text` for a visitor who pressed `button`. Where a browser refuses, as without HTTPS, `code` shows the
 * text and is selected. Returns whether it was copied.
 */
export async function copyText(text: string, button: HTMLElement, code: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    return true
  } catch {
    code.textContent = text
    getSelection()?.selectAllChildren(code)
    return false
  }
}

/** The element of an id in the page. @throws Error when the page has none */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

/** A choice, and how it is called. */
export interface Option<T> {
  value: T
  label: string
}

/** One of a few choices, as a row of radio buttons. */
export function choices<T extends string | number>(
  name: string,
  legend: string,
  options: readonly Option<T>[],
  chosen: T,
  onChoice: (value: T) => void,
): HTMLFieldSetElement {
  return element(
    'fieldset',
    { class: 'choices' },
    element('legend', { class: 'hidden' }, legend),
    ...options.map(({ value, label }) =>
      element(
        'label',
        {},
        element('input', {
          type: 'radio',
          name,
          value,
          checked: value === chosen,
          onchange: () => onChoice(value),
        }),
        element('span', {}, label),
      ),
    ),
  )
}

export function select<T extends string | number>(
  label: string,
  options: readonly Option<T>[],
  chosen: T,
  onChoice: (value: T) => void,
): HTMLLabelElement {
  const box = element(
    'select',
    {
      onchange: () => {
        const option = options[box.selectedIndex]
        if (option !== undefined) onChoice(option.value)
      },
    },
    ...options.map(({ value, label: text }) =>
      element('option', { value, selected: value === chosen }, text),
    ),
  )
  return element('label', { class: 'select' }, element('span', {}, label), box)
}
