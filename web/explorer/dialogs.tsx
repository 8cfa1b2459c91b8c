/** The dialogs of the page: for the visitor's key, with the ways to one, and for units. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import { clockTime, UTC } from './format.ts'
import { countText, texts } from './language.ts'
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
    setError(texts.key.whole)
    input.current?.focus()
  }
  useLayoutEffect(() => input.current?.focus(), [])
  const hasKey = api.key.value !== ''
  const quota = api.quota.value
  return (
    <Dialog name="key" title={texts.key.title} onClose={() => (keyPrompt.value = null)}>
      <form method="dialog" onSubmit={submit}>
        <p>{`${api.isOpen.value ? texts.key.purposeOpen : texts.key.purpose} ${texts.key.stays}`}</p>
        {hasKey ? null : <WhereKeysComeFrom />}
        <label for="key">{hasKey ? texts.key.another : texts.key.your}</label>
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
          {texts.key.remember}
        </label>
        {hasKey && quota !== null ? (
          <Note>
            {texts.key.left(
              countText(quota.remaining),
              countText(quota.limit),
              clockTime(quota.resetAt, UTC),
            )}
          </Note>
        ) : null}
        <div class="buttons row wraps">
          {hasKey ? <Button text={texts.key.forget} onClick={() => take('')} /> : null}
          <Button text={texts.key.cancel} onClick={close} />
          <Button text={texts.key.use} type="submit" class="primary" />
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
  if (contact === '') return <Note>{texts.key.ask}</Note>
  const address = E_MAIL.test(contact) ? `mailto:${contact}` : contact
  return (
    <Note>
      {texts.key.from} {WEB.test(address) ? <External href={address} text={contact} /> : contact}
    </Note>
  )
}

/** Tells a guest what a key shows. */
export function Invitation({ text }: { text: string }) {
  return (
    <div class="invitation box">
      <p>{text}</p>
      {isSecureContext || document.documentElement.dataset.explorer !== 'open' ? null : (
        <Note>{texts.key.secureOnly}</Note>
      )}
      <Button text={texts.key.enter} class="primary" id="invite-key" onClick={() => (keyPrompt.value = '')} />
      <WhereKeysComeFrom />
    </div>
  )
}

/** The units that a visitor chooses from. */
const unitNames = (): { readonly [kind in keyof Units]: { readonly [unit in Units[kind]]: string } } => ({
  height: { m: texts.units.m, ft: texts.units.ft },
  speed: { kmh: 'km/h', kn: texts.units.kn, ms: 'm/s' },
  temperature: { c: '°C', f: '°F' },
})

/** Only a choice made here is kept in the browser. */
function UnitsDialog() {
  const chosen = units.value
  const choose = (change: SomeUnits): void => {
    const next = { ...chosen, ...change }
    keepUnits(next)
    update({ units: next })
  }
  return (
    <Dialog name="units" title={texts.units.title} onClose={() => (isUnitsOpen.value = false)}>
      <form method="dialog">
        {KINDS.map((kind) => (
          <div class="row wraps apart" key={kind}>
            <span aria-hidden="true">{texts.units.kinds[kind]}</span>
            <Choices<string>
              name={`${kind}-unit`}
              label={texts.units.kinds[kind]}
              options={unitNames()[kind]}
              chosen={chosen[kind]}
              onChoice={(unit) => choose({ [kind]: unit })}
            />
          </div>
        ))}
        <Note>{texts.units.kept}</Note>
        <div class="buttons row wraps">
          <Button text={texts.units.done} type="submit" class="primary" />
        </div>
      </form>
    </Dialog>
  )
}
