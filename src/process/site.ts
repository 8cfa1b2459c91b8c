/** The pages that a server offers beside the API: its description, the explorer and the documentation. */
import { fileURLToPath } from 'node:url'
import type { Doors } from '../access/page-reads.ts'
import { descriptionFiles } from '../openapi/files.ts'
import { ROUTED } from '../routes.ts'
import { readSite, shareSite, type SharedSite } from '../serving/site.ts'

/** Lies beside the compiled code. */
const SITE_FOLDER = fileURLToPath(new URL('../site/', import.meta.url))

export interface SiteSettings {
  basePath: string
  doors: Doors
  /** Who issues keys; null where the operator does not say. */
  contact: string | null
}

/** Reads the site into shared memory. Without the built pages the operations are served all the same. */
export function startSite(settings: SiteSettings, log: (line: string) => void): SharedSite {
  const { basePath, doors, contact } = settings
  const described = descriptionFiles(ROUTED, basePath)
  try {
    const files = readSite(SITE_FOLDER, {
      base_path: basePath,
      explorer: doors === 'keyed' ? 'keyed' : 'open',
      contact: contact ?? '',
    })
    if (!files.some(({ path }) => path === '/')) {
      log(`warning: no explorer at /: ${SITE_FOLDER} holds none; "npm run build" makes it`)
    }
    return shareSite([...described, ...files])
  } catch (error) {
    log(`warning: no pages: ${(error as Error).message}; "npm run build" makes them`)
    return shareSite(described)
  }
}
