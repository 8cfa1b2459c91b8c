/** The reports of builds as files beside their snapshots: `report-ID.json` and `report-ID.html`. */
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TEMPORARY_PREFIX } from '../../snapshot/write.ts'
import { BuildError } from '../../system/build-error.ts'
import { readRegularFileSync } from '../../system/files.ts'
import { randomName } from '../../system/random-name.ts'
import { REPORT_FORMAT, REPORT_VERSION, type ReportDocument } from './document.ts'
import { reportPage } from './page.ts'

/** All that the bounds of a report allow, with the longest texts. */
const MAX_REPORT_BYTES = 2 ** 27
const WRITE_ATTEMPTS = 5

const REPORT_FILE = /^report-([0-9a-f]{24})\.(json|html)$/

/** The snapshot that a file of reports belongs to; null for other files. */
export function reportedSnapshot(file: string): string | null {
  return REPORT_FILE.exec(file)?.[1] ?? null
}

/**
 * Puts a report beside its snapshot, as JSON and as a page, in place of that of an earlier build.
 * @throws BuildError when a file cannot be written
 */
export function writeReport(dir: string, document: ReportDocument): void {
  const texts = { json: `${JSON.stringify(document, null, 2)}\n`, html: reportPage(document) }
  for (const [ending, text] of Object.entries(texts)) {
    const file = `report-${document.snapshot}.${ending}`
    try {
      putInPlace(dir, file, text)
    } catch (error) {
      throw new BuildError(`${join(dir, file)}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
    }
  }
}

/**
 * The builder's lock is released by now: the next builder may remove the temporary file as a dead builder's.
 */
function putInPlace(dir: string, file: string, text: string): void {
  for (let made = 1; ; made++) {
    const temporary = join(dir, `${TEMPORARY_PREFIX}${randomName()}-${file}`)
    try {
      writeFileSync(temporary, text)
      renameSync(temporary, join(dir, file))
      return
    } catch (error) {
      rmSync(temporary, { force: true })
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || made === WRITE_ATTEMPTS) throw error
    }
  }
}

/** The report of the newest build in a folder. @throws BuildError when there is none or it cannot be read */
export function newestReport(dir: string): ReportDocument {
  const files = readdirSync(dir)
    .filter((file) => file.endsWith('.json') && reportedSnapshot(file) !== null)
    .map((file) => ({ file, time: statSync(join(dir, file), { throwIfNoEntry: false })?.mtimeMs ?? -1 }))
    .sort((a, b) => a.time - b.time)
  const newest = files.at(-1)?.file
  if (newest === undefined) throw new BuildError(`${dir}: there is no report in this folder`)
  try {
    const document = JSON.parse(
      readRegularFileSync(join(dir, newest), MAX_REPORT_BYTES).toString('utf8'),
    ) as ReportDocument
    if (document.format === REPORT_FORMAT && document.version === REPORT_VERSION) return document
  } catch {
    // The same error as for a document of another form.
  }
  throw new BuildError(`${join(dir, newest)}: is not a report of a build`)
}
