/** What can be saved of what a panel shows. */

/** Formats of files, in the order of their buttons. Each is a value of `format` in the API. */
export const FILE_FORMATS = {
  csv: 'CSV',
  geojson: 'GeoJSON',
  parquet: 'Parquet',
} as const

export type FileFormat = keyof typeof FILE_FORMATS

/** A chart as a picture. */
export interface Picture {
  /** Ends in `.png`. */
  file: string
  title: string
  /** Below the title: what is measured, where, in whose time. */
  subtitle: string
  /** At the foot: who measured it. */
  credits: readonly string[]
  /** Draws the chart into a place of the page; returns what removes it. */
  draw: (place: HTMLElement) => () => void
}

export interface Offer {
  label: string
  /** From the server's root, without a format and without a key. */
  address: string
  formats: readonly FileFormat[]
  picture?: Picture | null
}

/** The address of an offer in a format. */
export function fileAddress({ address }: Offer, format: FileFormat): string {
  return `${address}${address.includes('?') ? '&' : '?'}format=${format}`
}
