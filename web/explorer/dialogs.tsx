/** The dialogs of the page: for the visitor's key, with the ways to one, and for units. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import { clockTime, UTC } from './format.ts'
import { isKey, keepKey, MOST_CHARACTERS } from './key.ts'
import { keepUnits } from './mine/kept.ts'
import { KINDS, type SomeUnits, type Units } from './mine/units.ts'
import { Button, Choices, External, Note } from './pieces.tsx'
import { api, keyPrompt, takeKey, units, update } from './store.ts'

export const isUnitsOpen = signal(false)

export function Dialogs() {
  return (
    <>
      {keyPrompt.value === null ? null : <KeyDialog message={keyPrompt.value} />}
      {isUnitsOpen.value ? <UnitsDialog /> : null}
    </>
  )
}

/** Is open as long as it is in the page. Closing it gives the focus back. */
export function Dialog(props: {
  name: string
  title: string
  onClose: () => void
  children: ComponentChildren
}) {
  const { name, title, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog id={`${name}-dialog`} aria-labelledby={`${name}-title`} ref={dialog} onClose={onClose}>
      <h2 id={`${name}-title`}>{title}</h2>
      {children}
    </dialog>
  )
}

const STAYS = 'The key stays in this browser and goes only to this server.'
const PURPOSE = `The explorer calls the API with your key. ${STAYS}`
const PURPOSE_OPEN = `Everything here works without a key. With one, the page uses its quota. ${STAYS}`

/** `message` says why the dialog opens; may be ''. */
function KeyDialog({ message }: { message: string }) {
  const input = useRef<HTMLInputElement>(null)
  const isForever = useRef<HTMLInputElement>(null)
  const [error, setError] = useState('')
  const close = (): void => input.current?.closest('dialog')?.close()
  const take = (key: string): void => {
    keepKey(key, isForever.current?.checked === true)
    close()
    takeKey(key)
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const key = input.current?.value.trim() ?? ''
    if (isKey(key)) return take(key)
    setError('Paste the whole key: one word, no spaces.')
    input.current?.focus()
  }
  useLayoutEffect(() => input.current?.focus(), [])
  const hasKey = api.key.value !== ''
  const quota = api.quota.value
  return (
    <Dialog name="key" title="API key" onClose={() => (keyPrompt.value = null)}>
      <form method="dialog" onSubmit={submit}>
        <p>{api.isOpen.value ? PURPOSE_OPEN : PURPOSE}</p>
        {hasKey ? null : <WhereKeysComeFrom />}
        <label for="key">{hasKey ? 'Another key' : 'Your key'}</label>
        <input
          ref={input}
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          maxLength={MOST_CHARACTERS}
          aria-describedby="key-error"
          placeholder="gsw_…"
        />
        <p class="error" role="alert" id="key-error" children={error || message} />
        <label class="check row">
          <input type="checkbox" id="key-forever" ref={isForever} />
          Remember it on this device
        </label>
        {hasKey && quota !== null ? (
          <Note>
            {quota.remaining.toLocaleString('en')} of {quota.limit.toLocaleString('en')} requests left until{' '}
            {clockTime(quota.resetAt, UTC)} UTC.
          </Note>
        ) : null}
        <div class="buttons row wraps">
          {hasKey ? <Button text="Forget the key" onClick={() => take('')} /> : null}
          <Button text="Cancel" onClick={close} />
          <Button text="Use this key" type="submit" class="primary" />
        </div>
      </form>
    </Dialog>
  )
}

const WEB = /^(https?:\/\/|mailto:)\S+$/i
const E_MAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** A sentence: where keys come from. An address becomes a link, anything else stays text. */
export function WhereKeysComeFrom() {
  const { contact = '' } = document.documentElement.dataset
  if (contact === '') return <Note>Ask the operator of this server for a key.</Note>
  const href = WEB.test(contact) ? contact : E_MAIL.test(contact) ? `mailto:${contact}` : null
  return <Note>For a key: {href === null ? contact : <External href={href} text={contact} />}</Note>
}

/** What a guest would see with a key. */
export function Invitation({ text }: { text: string }) {
  return (
    <div class="invitation box">
      <p>{text}</p>
      {isSecureContext || document.documentElement.dataset.explorer !== 'open' ? null : (
        <Note>
          This server lets visitors read without a key, but only at an https:// address: at this one the
          browser does not tell the server which page asks.
        </Note>
      )}
      <Button text="Enter a key" class="primary" id="invite-key" onClick={() => (keyPrompt.value = '')} />
      <WhereKeysComeFrom />
    </div>
  )
}

/** What a visitor chooses the unit of: its name, and the units. */
const UNITS = {
  height: ['Heights', { m: 'Metres', ft: 'Feet' }],
  speed: ['Wind', { kmh: 'km/h', kn: 'Knots', ms: 'm/s' }],
  temperature: ['Temperatures', { c: '°C', f: '°F' }],
} as const satisfies { [kind in keyof Units]: readonly [string, { [unit in Units[kind]]: string }] }

/** Only a choice made here is kept in the browser. */
function UnitsDialog() {
  const chosen = units.value
  const choose = (change: SomeUnits): void => {
    const next = { ...chosen, ...change }
    keepUnits(next)
    update({ units: next })
  }
  return (
    <Dialog name="units" title="Units" onClose={() => (isUnitsOpen.value = false)}>
      <form method="dialog">
        {KINDS.map((kind) => (
          <div class="row wraps apart" key={kind}>
            <span aria-hidden="true">{UNITS[kind][0]}</span>
            <Choices<string>
              name={`${kind}-unit`}
              label={UNITS[kind][0]}
              options={UNITS[kind][1]}
              chosen={chosen[kind]}
              onChoice={(unit) => choose({ [kind]: unit })}
            />
          </div>
        ))}
        <Note>Your choice is kept in this browser and is part of the address.</Note>
        <div class="buttons row wraps">
          <Button text="Done" type="submit" class="primary" />
        </div>
      </form>
    </Dialog>
  )
}
