/** The search box: a combobox over the public searches of buoys and of places, so it works without a key. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { BuoySearchItem, Place } from '../../clients/typescript/groundswell.ts'
import { placesAddress, searchAddress } from './addresses.ts'
import { ApiTrouble } from './api.ts'
import { isolated, texts } from './language.ts'
import { announce, api, buoys, openBuoy, openPlace, query, recently, report } from './store.ts'

/** Time without a keystroke before a call is spent. */
const PAUSE_MS = 180
const LEAST_CHARACTERS = 2
const MOST_CHARACTERS = 100
const MOST_BUOYS = 8
const MOST_PLACES = 5

/** A hit: a buoy or a town. */
interface Row {
  name: string
  about: string
  open: () => void
}

/** Null while the list is closed. */
const found = signal<readonly Row[] | null>(null)
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
    const [{ data }, towns] = await Promise.all([
      api.ask(searchAddress(api, text, MOST_BUOYS), 'public', until),
      api.ask(placesAddress(api, text, MOST_PLACES), 'public', until),
    ])
    const { places } = towns.data
    if (until.aborted) return
    marked.value = -1
    found.value = [...data.buoys.map(rowOfBuoy), ...places.map(rowOfPlace)]
    announce(texts.search.found(data.buoys.length, places.length))
  } catch (error) {
    if (until.aborted) return
    close()
    if (error instanceof ApiTrouble) report(error)
  }
}

function rowOfBuoy({ slug, name, country, source, source_identifier: id }: BuoySearchItem): Row {
  // A guest does not know which ones are active.
  const isSilent =
    !api.isGuest && buoys.peek() !== null && buoys.peek()?.every((each) => each.slug !== slug) === true
  const none = isSilent ? texts.list.noReadingSince(recently.peek()) : null
  return {
    name,
    about: [country, isolated(`${source} ${id}`), none].filter((part) => part !== null).join(' · '),
    open: () => openBuoy(slug),
  }
}

const rowOfPlace = ({ name, region, country, lat, lng }: Place): Row => ({
  name,
  about: texts.search.placeIn([region, country].filter((part) => part !== null).join(', ')),
  open: () => openPlace(name, { lat, lng }),
})

function close(): void {
  abort.abort()
  clearTimeout(timer)
  found.value = null
  marked.value = -1
}

function choose(row: Row | undefined): void {
  if (row === undefined) return
  query.value = ''
  close()
  row.open()
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

/** The input would lose its focus, which closes the list. */
const keepFocus = (event: Event): void => event.preventDefault()

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
        placeholder={texts.search.placeholder}
        aria-label={texts.search.label}
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
      <ul id="found" role="listbox" aria-label={texts.search.list} hidden={rows === null} ref={list}>
        {rows?.map((row, i) => (
          <li
            key={i}
            id={`found-${i}`}
            role="option"
            aria-selected={i === marked.value}
            onPointerDown={keepFocus}
            onMouseDown={keepFocus}
            // The click comes last: sooner, it would go to the map below the closed list.
            onClick={() => choose(row)}
          >
            <bdi>{row.name}</bdi>
            <small>{row.about}</small>
          </li>
        ))}
        {rows?.length === 0 ? (
          <li role="option" aria-disabled="true" aria-selected="false">
            {texts.search.none}
          </li>
        ) : null}
      </ul>
    </>
  )
}
