/** Where an export goes: a folder or a bucket, under the same names. */
import { decodeList, LIST_FILE, type FileList } from '../snapshot/file-list.ts'
import type { StagedFile } from './staged-file.ts'

/** A file that a target has, or is to have. */
export interface TargetFile {
  /** From the target's own folder, with slashes. */
  path: string
  bytes: number
  sha256: string
}

/** One export to a target: `begin`, `add` for each new file, `publish`, and `end` whatever happened. */
export interface Target {
  /** As the operator wrote it. */
  readonly address: string
  /** What clients may know of it; null for a folder. */
  readonly publicAddress: string | null
  /** A folder for files that are being written. */
  readonly staging: string
  /**
   * What was exported before; null where nothing was.
   * @throws BuildError or StoreError where the target cannot be used, or another export is at work there
   */
  begin(): Promise<FileList | null>
  /** Whether a file of the export before is there in its size, and will stay. */
  has(file: TargetFile): boolean
  /** Takes a staged file. Nobody sees it yet, or only who knows its name. */
  add(file: TargetFile, staged: StagedFile): Promise<void>
  /** Makes a list the target's own, and its files visible. @throws BuildError or StoreError */
  publish(list: Buffer, files: readonly TargetFile[]): Promise<void>
  /**
   * Removes old files that are not among those that are named. Never throws for what stores do: the next
   * export collects.
   */
  collect(named: ReadonlySet<string>): Promise<void>
  /** Leaves nothing half-written. */
  end(): Promise<void>
}

/** @throws BuildError where the bytes are not a list of ours */
export function listBefore(bytes: Uint8Array | null, address: string): FileList | null {
  return bytes === null ? null : decodeList(bytes, `${address}/${LIST_FILE}`)
}
