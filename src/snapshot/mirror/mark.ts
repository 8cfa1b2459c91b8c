/** The mark of a folder that mirrors another one. */
import { join } from 'node:path'
import { errorCode } from '../../system/file-faults.ts'
import { readRegularFileSync } from '../../system/regular-files.ts'

/** Marks a folder that mirrors another one, so that no builder writes there: format, version, `source`. */
export const MARK_FILE = 'mirror.json'

const MARK_FORMAT = 'groundswell-mirror'
const MARK_BYTES = 8192

/** The address that a folder mirrors, empty where the mark cannot be understood; null without a mark. */
export function mirroredSource(dir: string): string | null {
  try {
    const { format, source } = JSON.parse(
      readRegularFileSync(join(dir, MARK_FILE), MARK_BYTES).toString('utf8'),
    ) as { [name: string]: unknown }
    return format === MARK_FORMAT && typeof source === 'string' ? source : ''
  } catch (error) {
    return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR' ? null : ''
  }
}

export function mirrorMark(source: string): Uint8Array {
  return Buffer.from(`${JSON.stringify({ format: MARK_FORMAT, version: 1, source })}\n`)
}
