/** The search box: a combobox over the public search, so it works without a key. */
import type { BuoySearchItem } from '../../clients/typescript/groundswell.ts'
import { searchAddress } from './addresses.ts'
import { ApiTrouble, type Api } from './api.ts'
import { element } from './dom.ts'

/** Time without a keystroke before a call is spent. */
const PAUSE_MS = 180
const LEAST_CHARACTERS = 2
const MOST_CHARACTERS = 100
const MOST_FOUND = 8

interface SearchEvents {
  onChosen: (slug: string) => void
  onTrouble: (trouble: ApiTrouble) => void
  announce: (text: string) => void
}

/** Puts a search box into `host`. */
export function addSearchBox(host: HTMLElement, api: Api, events: SearchEvents): void {
  const box = new SearchBox(api, events)
  host.append(box.input, box.list)
}

class SearchBox {
  readonly #api: Api
  readonly #events: SearchEvents
  #found: readonly BuoySearchItem[] = []
  /** The marked row of the list; -1 where none is. */
  #active = -1
  #timer = 0
  #abort = new AbortController()

  readonly list = element('ul', { id: 'found', role: 'listbox', 'aria-label': 'Buoys found', hidden: true })
  readonly input = element('input', {
    id: 'query',
    type: 'search',
    role: 'combobox',
    placeholder: 'Find a buoy',
    'aria-label': 'Find a buoy by name or identifier',
    'aria-expanded': 'false',
    'aria-controls': 'found',
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: MOST_CHARACTERS,
    oninput: () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#ask(), PAUSE_MS)
    },
    onkeydown: (event) => this.#onKey(event as KeyboardEvent),
    onblur: () => this.#close(),
  })

  constructor(api: Api, events: SearchEvents) {
    this.#api = api
    this.#events = events
  }

  async #ask(): Promise<void> {
    const query = this.input.value.trim()
    if (Array.from(query).length < LEAST_CHARACTERS) {
      this.#close()
      return
    }
    this.#abort.abort()
    this.#abort = new AbortController()
    const { signal } = this.#abort
    try {
      const address = searchAddress(this.#api, query, MOST_FOUND)
      const { data } = await this.#api.ask(address, 'public', signal)
      this.#found = data.buoys
      this.#show()
    } catch (error) {
      if (signal.aborted) return
      this.#close()
      if (error instanceof ApiTrouble) this.#events.onTrouble(error)
    }
  }

  #show(): void {
    const count = this.#found.length
    this.#active = -1
    this.input.removeAttribute('aria-activedescendant')
    this.list.replaceChildren(
      ...(count === 0 ? [noneRow()] : this.#found.map((buoy, i) => this.#row(buoy, i))),
    )
    this.list.hidden = false
    this.input.setAttribute('aria-expanded', 'true')
    this.#events.announce(count === 1 ? '1 buoy found' : `${count} buoys found`)
  }

  #row({ name, country, source, source_identifier: identifier }: BuoySearchItem, i: number): HTMLElement {
    const whereabouts = [country, `${source} ${identifier}`].filter((part) => part !== null).join(' · ')
    return element(
      'li',
      {
        id: `found-${i}`,
        role: 'option',
        'aria-selected': 'false',
        // The input would lose its focus, which closes the list.
        onpointerdown: (event) => event.preventDefault(),
        onmousedown: (event) => event.preventDefault(),
        // The click comes last: sooner, it would go to the map below the closed list.
        onclick: () => this.#choose(i),
      },
      element('span', {}, name),
      element('small', {}, whereabouts),
    )
  }

  #onKey(event: KeyboardEvent): void {
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        if (this.#found.length === 0) return
        event.preventDefault()
        this.#mark(event.key === 'ArrowDown' ? this.#active + 1 : Math.max(this.#active, 0) - 1)
        break
      case 'Enter':
        event.preventDefault()
        this.#choose(Math.max(this.#active, 0))
        break
      case 'Escape':
        this.input.value = ''
        this.#close()
        break
    }
  }

  /** Marks a row; past the last comes the first, and before the first the last. */
  #mark(at: number): void {
    this.#active = (at + this.#found.length) % this.#found.length
    for (const [i, row] of [...this.list.children].entries()) {
      row.setAttribute('aria-selected', String(i === this.#active))
    }
    this.input.setAttribute('aria-activedescendant', `found-${this.#active}`)
    this.list.children[this.#active]?.scrollIntoView({ block: 'nearest' })
  }

  #choose(at: number): void {
    const buoy = this.#found[at]
    if (buoy === undefined) return
    this.input.value = ''
    this.#close()
    this.#events.onChosen(buoy.slug)
  }

  #close(): void {
    this.#abort.abort()
    clearTimeout(this.#timer)
    this.#found = []
    this.#active = -1
    this.list.hidden = true
    this.list.replaceChildren()
    this.input.setAttribute('aria-expanded', 'false')
    this.input.removeAttribute('aria-activedescendant')
  }
}

function noneRow(): HTMLElement {
  return element(
    'li',
    { class: 'none', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' },
    'No buoy of that name',
  )
}
