/**
 * A server's description of a dataset: the attributes of its variables, and the names of its columns in one
 * spelling.
 */

export const normal = (label: string): string =>
  label
    .replace(/_\d{1,2}$/, '')
    .replaceAll('_', '')
    .toLowerCase()

/**
 * Attributes of a dataset's variables, by variable; those of the dataset as a whole are under `NC_GLOBAL`.
 */
export type Info = ReadonlyMap<string, ReadonlyMap<string, string>>

export const NO_INFO: Info = new Map()

export interface TableFile {
  path: string
  /** Name without its ending. */
  stem: string
  info: Info
}
