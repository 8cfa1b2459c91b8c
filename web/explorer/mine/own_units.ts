/** The visitor's own units, by choice or by locale, and the dialog that changes them. */
import { choices, element, type Option } from '../dom.ts'
import { keepText, keptText } from './kept.ts'
import { formatUnits, isSameUnits, parseUnits, unitsOfLocales, type SomeUnits, type Units } from './units.ts'

/** Where the browser keeps the choice. */
const STORAGE_KEY = 'groundswell-units'

/** What the visitor once chose in this browser; nothing before that. */
export function chosenUnits(): SomeUnits {
  return parseUnits(keptText(STORAGE_KEY))
}

/** The units of the page: those of the address before those chosen here before those of the locale. */
export function unitsOf(address: SomeUnits): Units {
  return { ...unitsOfLocales(navigator.languages), ...chosenUnits(), ...address }
}

const LABELS = {
  height: [
    { value: 'm', label: 'Metres' },
    { value: 'ft', label: 'Feet' },
  ],
  speed: [
    { value: 'kmh', label: 'km/h' },
    { value: 'kn', label: 'Knots' },
    { value: 'ms', label: 'm/s' },
  ],
  temperature: [
    { value: 'c', label: '°C' },
    { value: 'f', label: '°F' },
  ],
} as const satisfies { [kind in keyof Units]: readonly Option<Units[kind]>[] }

/**
 * Opens the dialog. `address` holds the units that came with the address; `onUnits` gets those that the
 * address shall have from here on. Only a choice made here is kept.
 */
export function openUnits(address: SomeUnits, onUnits: (units: SomeUnits) => void): void {
  const dialog = element('dialog', { id: 'units-dialog', 'aria-labelledby': 'units-title' })
  const draw = (current: SomeUnits): void => {
    const units = unitsOf(current)
    const choose = (change: SomeUnits): void => {
      const next = { ...units, ...change }
      keepText(STORAGE_KEY, formatUnits(next))
      onUnits(next)
      const focused = document.activeElement instanceof HTMLInputElement ? document.activeElement : null
      draw(next)
      if (focused !== null) dialog.querySelector<HTMLElement>(`input[value="${focused.value}"]`)?.focus()
    }
    dialog.replaceChildren(
      element(
        'form',
        { method: 'dialog' },
        element('h2', { id: 'units-title' }, 'Units'),
        row(
          'Heights',
          choices('height-unit', 'Heights', LABELS.height, units.height, (height) => choose({ height })),
        ),
        row(
          'Wind',
          choices('speed-unit', 'Wind', LABELS.speed, units.speed, (speed) => choose({ speed })),
        ),
        row(
          'Temperatures',
          choices('temperature-unit', 'Temperatures', LABELS.temperature, units.temperature, (temperature) =>
            choose({ temperature }),
          ),
        ),
        linkNote(current, () => {
          onUnits(chosenUnits())
          draw(chosenUnits())
        }),
        element('div', { class: 'buttons' }, element('button', { type: 'submit', class: 'primary' }, 'Done')),
      ),
    )
  }
  draw(address)
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

function row(label: string, choice: HTMLElement): HTMLElement {
  return element('div', { class: 'unit-row' }, element('span', { 'aria-hidden': 'true' }, label), choice)
}

/** Units that came with a link hold for this page only, until the visitor chooses. */
function linkNote(address: SomeUnits, onOwn: () => void): HTMLElement {
  if (isSameUnits(unitsOf(address), unitsOf({}))) {
    return element('p', { class: 'note' }, 'Your choice is kept in this browser and is part of the address.')
  }
  return element(
    'p',
    { class: 'note' },
    'These units came with the address. Yours are kept. ',
    element('button', { type: 'button', class: 'small', onclick: onOwn }, 'Use mine'),
  )
}
