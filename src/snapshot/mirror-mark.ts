/**
 * The mark of a folder that mirrors another one: only a mirror writes there, and a builder does not.
 *
 *   mirror.json    {"format":"groundswell-mirror","version":1,"source":"https://host/path/"}
 */
import { join } from 'node:path'
import { readRegularFileSync } from '../system/regular-files.ts'
import { errorCode } from '../system/file-faults.ts'

export const MARK_FILE = 'mirror.json'

const FORMAT = 'groundswell-mirror'
const MAX_BYTES = 8192

/** The address that a folder mirrors, empty where the mark cannot be understood; null without a mark. */
export function mirroredSource(dir: string): string | null {
  try {
    const { format, source } = JSON.parse(
      readRegularFileSync(join(dir, MARK_FILE), MAX_BYTES).toString('utf8'),
    ) as { [name: string]: unknown }
    return format === FORMAT && typeof source === 'string' ? source : ''
  } catch (error) {
    return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR' ? null : ''
  }
}

export function mirrorMark(source: string): Uint8Array {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, version: 1, source })}\n`)
}
