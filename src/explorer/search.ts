/** The search box: a combobox over the public search, so it works without a key. */
import { ApiTrouble, type Api, type FoundBuoy } from './api.ts'
import { element } from './dom.ts'

/** Milliseconds without a keystroke before a call is spent. */
const PAUSE = 180
const LEAST = 2

export function searchBox(
  host: HTMLElement,
  api: Api,
  events: {
    onChosen: (slug: string) => void
    onTrouble: (trouble: ApiTrouble) => void
    announce: (text: string) => void
  },
): void {
  let found: readonly FoundBuoy[] = []
  let active = -1
  let timer = 0
  let abort = new AbortController()

  const list = element('ul', { id: 'found', role: 'listbox', 'aria-label': 'Buoys found', hidden: true })
  const input = element('input', {
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
    maxlength: 100,
  })
  host.append(input, list)

  const close = (): void => {
    abort.abort()
    clearTimeout(timer)
    found = []
    active = -1
    list.hidden = true
    list.replaceChildren()
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }
  const choose = (at: number): void => {
    const buoy = found[at]
    if (buoy === undefined) return
    input.value = ''
    close()
    events.onChosen(buoy.slug)
  }
  const activate = (at: number): void => {
    active = found.length === 0 ? -1 : (at + found.length) % found.length
    ;[...list.children].forEach((row, i) => row.setAttribute('aria-selected', String(i === active)))
    if (active === -1) return
    input.setAttribute('aria-activedescendant', `found-${active}`)
    list.children[active].scrollIntoView({ block: 'nearest' })
  }
  const show = (): void => {
    active = -1
    input.removeAttribute('aria-activedescendant')
    list.replaceChildren(
      ...found.map((buoy, i) =>
        element(
          'li',
          {
            id: `found-${i}`,
            role: 'option',
            'aria-selected': 'false',
            // Before the input loses its focus, which closes the list.
            onpointerdown: (event) => {
              event.preventDefault()
              choose(i)
            },
          },
          element('span', {}, buoy.name),
          element(
            'small',
            {},
            [buoy.country, `${buoy.source} ${buoy.source_identifier}`]
              .filter((part) => part !== null)
              .join(' · '),
          ),
        ),
      ),
    )
    if (found.length === 0) {
      list.append(
        element(
          'li',
          { class: 'none', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' },
          'No buoy of that name',
        ),
      )
    }
    list.hidden = false
    input.setAttribute('aria-expanded', 'true')
    events.announce(found.length === 1 ? '1 buoy found' : `${found.length} buoys found`)
  }
  const ask = async (): Promise<void> => {
    const query = input.value.trim()
    if (Array.from(query).length < LEAST) {
      close()
      return
    }
    abort.abort()
    abort = new AbortController()
    const { signal } = abort
    try {
      const data = await api.get<{ buoys: FoundBuoy[] }>(
        api.address('/buoys/search', { query, limit: 8 }),
        'public',
        signal,
      )
      found = data.buoys
      show()
    } catch (error) {
      if (signal.aborted) return
      close()
      if (error instanceof ApiTrouble) events.onTrouble(error)
    }
  }

  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void ask(), PAUSE)
  })
  input.addEventListener('keydown', (event) => {
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        if (found.length === 0) return
        event.preventDefault()
        activate(event.key === 'ArrowDown' ? active + 1 : active === -1 ? found.length - 1 : active - 1)
        break
      case 'Enter':
        event.preventDefault()
        choose(active === -1 ? 0 : active)
        break
      case 'Escape':
        input.value = ''
        close()
        break
    }
  })
  input.addEventListener('blur', close)
}
