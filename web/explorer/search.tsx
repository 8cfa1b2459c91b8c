/** The search box: a combobox over the public search, so it works without a key. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { BuoySearchItem } from '../../clients/typescript/groundswell.ts'
import { searchAddress } from './addresses.ts'
import { ApiTrouble } from './api.ts'
import { announce, api, openBuoy, query, report } from './store.ts'

/** Time without a keystroke before a call is spent. */
const PAUSE_MS = 180
export const LEAST_CHARACTERS = 2
const MOST_CHARACTERS = 100
const MOST_FOUND = 8

/** Null while the list is closed. */
const found = signal<readonly BuoySearchItem[] | null>(null)
/** The marked row of the list; -1 where none is. */
const marked = signal(-1)
let timer = 0
let abort = new AbortController()

async function ask(): Promise<void> {
  const text = query.peek().trim()
  if (Array.from(text).length < LEAST_CHARACTERS) return close()
  abort.abort()
  abort = new AbortController()
  const { signal: until } = abort
  try {
    const { data } = await api.ask(searchAddress(api, text, MOST_FOUND), 'public', until)
    const { length } = data.buoys
    marked.value = -1
    found.value = data.buoys
    announce(length === 1 ? '1 buoy found' : `${length} buoys found`)
  } catch (error) {
    if (until.aborted) return
    close()
    if (error instanceof ApiTrouble) report(error)
  }
}

function close(): void {
  abort.abort()
  clearTimeout(timer)
  found.value = null
  marked.value = -1
}

function choose(buoy: BuoySearchItem | undefined): void {
  if (buoy === undefined) return
  query.value = ''
  close()
  openBuoy(buoy.slug)
}

function onKey(event: KeyboardEvent): void {
  const rows = found.peek() ?? []
  const at = marked.peek()
  if (event.key === 'Escape') {
    query.value = ''
    return close()
  }
  if (event.key === 'Enter') choose(rows[Math.max(at, 0)])
  else if (rows.length === 0) return
  // Past the last row comes the first, and before the first the last.
  else if (event.key === 'ArrowDown') marked.value = (at + 1) % rows.length
  else if (event.key === 'ArrowUp') marked.value = (Math.max(at, 0) - 1 + rows.length) % rows.length
  else return
  event.preventDefault()
}

export function Search() {
  const rows = found.value
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => list.current?.children[marked.value]?.scrollIntoView({ block: 'nearest' }))
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }): void => {
    query.value = currentTarget.value
    clearTimeout(timer)
    timer = setTimeout(() => void ask(), PAUSE_MS)
  }
  return (
    <>
      <input
        id="query"
        type="search"
        role="combobox"
        list={undefined}
        placeholder="Find a buoy"
        aria-label="Find a buoy by name or identifier"
        aria-expanded={rows !== null}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={marked.value === -1 ? undefined : `found-${marked.value}`}
        autocomplete="off"
        spellcheck={false}
        maxLength={MOST_CHARACTERS}
        value={query.value}
        onInput={onInput}
        onKeyDown={onKey}
        onBlur={close}
      />
      <ul id="found" role="listbox" aria-label="Buoys found" hidden={rows === null} ref={list}>
        {rows?.map((buoy, i) => (
          <Found buoy={buoy} at={i} key={buoy.id} />
        ))}
        {rows?.length === 0 ? (
          <li class="none" role="option" aria-disabled="true" aria-selected="false">
            No buoy of that name
          </li>
        ) : null}
      </ul>
    </>
  )
}

/** The input would lose its focus, which closes the list. */
const keepFocus = (event: Event): void => event.preventDefault()

function Found({ buoy, at }: { buoy: BuoySearchItem; at: number }) {
  const { name, country, source, source_identifier: identifier } = buoy
  return (
    <li
      id={`found-${at}`}
      role="option"
      aria-selected={at === marked.value}
      onPointerDown={keepFocus}
      onMouseDown={keepFocus}
      // The click comes last: sooner, it would go to the map below the closed list.
      onClick={() => choose(buoy)}
    >
      <span>{name}</span>
      <small>{[country, `${source} ${identifier}`].filter((part) => part !== null).join(' · ')}</small>
    </li>
  )
}
