/** The networks that the page knows: who measures, and where the public pages of stations are. */

interface Network {
  readonly owner: string
  /** The public page of a station; absent where the network has none that is known. */
  readonly page?: (identifier: string) => string
}

/** Identifiers become parts of addresses only where they look as the network's own do. */
const IDENTIFIER = /^[A-Za-z0-9]{3,8}$/

/** By the name that the API gives as `source`. */
const NETWORKS: { readonly [source: string]: Network } = {
  NDBC: {
    owner: 'NOAA National Data Buoy Center and its partners',
    page: (identifier) =>
      `https://www.ndbc.noaa.gov/station_page.php?station=${encodeURIComponent(identifier.toLowerCase())}`,
  },
  Candhis: {
    owner: 'Candhis, Cerema and its partners',
    // The page takes `camp=06403` in Base64.
    page: (identifier) => `https://candhis.cerema.fr/_public_/campagne.php?${btoa(`camp=${identifier}`)}`,
  },
  'Marine Institute': { owner: 'Marine Institute, Ireland' },
  'Météo-France': { owner: 'Météo-France' },
  'MET Norway': { owner: 'MET Norway' },
  'UK Met Office': { owner: 'UK Met Office' },
}

/** The address of a station's own page; null where none is known. */
export function stationPage(source: string, identifier: string): string | null {
  if (!Object.hasOwn(NETWORKS, source) || !IDENTIFIER.test(identifier)) return null
  return NETWORKS[source]?.page?.(identifier) ?? null
}

/** Who measures in a network. */
export function ownerOf(source: string): string {
  return Object.hasOwn(NETWORKS, source) ? (NETWORKS[source]?.owner ?? source) : source
}
