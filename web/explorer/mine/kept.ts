/**
 * What the browser keeps for the visitor, such as the favourite buoys. Where the browser forbids it, it lasts
 * as long as the page.
 */
import { SLUG } from '../view.ts'
import { formatUnits, parseUnits, type SomeUnits } from './units.ts'

interface TextStorage {
  getItem(name: string): string | null
  setItem(name: string, text: string): void
}

/** @throws where the browser forbids it, and outside of browsers */
const storage = (): TextStorage => (globalThis as unknown as { localStorage: TextStorage }).localStorage

/** Texts that the browser would not take. */
const instead = new Map<string, string>()

/** The text that was kept under a name, or ''. */
export function keptText(name: string): string {
  try {
    return instead.get(name) ?? storage().getItem(name) ?? ''
  } catch {
    return ''
  }
}

export function keepText(name: string, text: string): void {
  try {
    storage().setItem(name, text)
    instead.delete(name)
  } catch {
    // Storage is blocked, or full.
    instead.set(name, text)
  }
}

/** The name under which the browser keeps the favourites, as JSON. */
const STORAGE_KEY = 'groundswell-favourites'
/** A list that is longer than a person goes through. */
const MOST_FAVOURITES = 100

/** The name is shown where the buoy is not among the active ones. */
export interface Favourite {
  slug: string
  name: string
}

const MOST_CHARACTERS = 200

/** The favourites in a kept text. What is not a favourite is left out. */
export function parseFavourites(text: string): Favourite[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return []
  }
  if (!Array.isArray(parsed)) return []
  const seen = new Set<string>()
  const found: Favourite[] = []
  for (const each of parsed as unknown[]) {
    const { slug, name } = (each ?? {}) as { slug?: unknown; name?: unknown }
    if (typeof slug !== 'string' || typeof name !== 'string' || !SLUG.test(slug) || seen.has(slug)) continue
    seen.add(slug)
    found.push({ slug, name: name.slice(0, MOST_CHARACTERS) })
  }
  return found.slice(0, MOST_FAVOURITES)
}

/** The newest first. */
export function favourites(): Favourite[] {
  return parseFavourites(keptText(STORAGE_KEY))
}

export function isFavourite(slug: string): boolean {
  return favourites().some((each) => each.slug === slug)
}

/** Puts a buoy on the list, or takes it off. Returns whether it is on it now. */
export function toggleFavourite(buoy: Favourite): boolean {
  const others = favourites().filter(({ slug }) => slug !== buoy.slug)
  const isOn = others.length === favourites().length
  const next = isOn ? [{ slug: buoy.slug, name: buoy.name }, ...others].slice(0, MOST_FAVOURITES) : others
  keepText(STORAGE_KEY, JSON.stringify(next))
  return isOn
}

const UNITS_KEY = 'groundswell-units'

/** The units that the visitor once chose in this browser; nothing before that. */
export function chosenUnits(): SomeUnits {
  return parseUnits(keptText(UNITS_KEY))
}

export function keepUnits(units: SomeUnits): void {
  keepText(UNITS_KEY, formatUnits(units))
}
