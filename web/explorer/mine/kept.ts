/** The visitor's things that the browser keeps; if it forbids that, they last as long as the page. */
import { pointOf, SLUG } from '../view.ts'
import { formatUnits, parseUnits, type SomeUnits } from './units.ts'

/** The tests are checked under Node's types. */
declare const localStorage: {
  getItem: (name: string) => string | null
  setItem: (name: string, text: string) => void
}

/** The result of `act`, or undefined if it throws: a browser may forbid its storages, or have no room. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

/** The text that was kept under a name, or ''. */
export const keptText = (name: string): string => attempt(() => localStorage.getItem(name)) ?? ''

export const keepText = (name: string, text: string): void => attempt(() => localStorage.setItem(name, text))

const FAVOURITES_KEY = 'groundswell-favourites'
/** A list that is longer than a person goes through. */
const MOST_FAVOURITES = 100
const MOST_CHARACTERS = 200

/**
 * A buoy by its slug, or a place by its position. The name is shown where the buoy is not among the active
 * ones.
 */
export interface Favourite {
  slug: string
  name: string
}

/** The favourites in a kept text. What is not a favourite is left out. */
export function parseFavourites(text: string): Favourite[] {
  const parsed = attempt((): unknown => JSON.parse(text))
  const found = new Map<string, Favourite>()
  for (const each of Array.isArray(parsed) ? (parsed as unknown[]) : []) {
    const { slug, name } = (each ?? {}) as { slug?: unknown; name?: unknown }
    if (typeof slug !== 'string' || typeof name !== 'string' || found.has(slug)) continue
    if (!SLUG.test(slug) && pointOf(slug) === null) continue
    found.set(slug, { slug, name: name.slice(0, MOST_CHARACTERS) })
  }
  return [...found.values()].slice(0, MOST_FAVOURITES)
}

/** The newest first. */
export const keptFavourites = (): Favourite[] => parseFavourites(keptText(FAVOURITES_KEY))

export const keepFavourites = (all: readonly Favourite[]): void =>
  keepText(FAVOURITES_KEY, JSON.stringify(all))

/** The list with a buoy at its begin, or without it where it was on the list. */
export function toggled(all: readonly Favourite[], { slug, name }: Favourite): Favourite[] {
  const others = all.filter((each) => each.slug !== slug)
  return others.length < all.length ? others : [{ slug, name }, ...others].slice(0, MOST_FAVOURITES)
}

const UNITS_KEY = 'groundswell-units'

/** The units that the visitor once chose in this browser; nothing before that. */
export const chosenUnits = (): SomeUnits => parseUnits(keptText(UNITS_KEY))

export const keepUnits = (units: SomeUnits): void => keepText(UNITS_KEY, formatUnits(units))
