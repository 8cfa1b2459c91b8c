/** The pages that a server offers with the API: its description, the explorer and the documentation. */
import { fileURLToPath } from 'node:url'
import type { AnonymousAccess } from '../http/anonymous-access.ts'
import { descriptionFiles } from './description-files.ts'
import { ROUTED } from '../routes.ts'
import { missionPicture, MISSIONS, type Mission } from '../sea/missions.ts'
import type { SharedSite } from '../http/static-site.ts'
import { readSite, shareSite, type StaticFile } from './static-files.ts'

/** Next to the compiled code. */
const SITE_FOLDER = fileURLToPath(new URL('../site/', import.meta.url))

export interface SiteSettings {
  basePath: string
  anonymousAccess: AnonymousAccess
  /** Null where the operator does not tell who issues keys. */
  contact: string | null
}

/** Reads the site into shared memory. Without the built pages the operations are served all the same. */
export function startSite(settings: SiteSettings, log: (line: string) => void): SharedSite {
  const { basePath, anonymousAccess, contact } = settings
  const made = [...descriptionFiles(ROUTED, basePath), ...MISSIONS.map(pictureOf)]
  try {
    const files = readSite(SITE_FOLDER, {
      base_path: basePath,
      explorer: anonymousAccess === 'keyed' ? 'keyed' : 'open',
      contact: contact ?? '',
    })
    if (!files.some(({ path }) => path === '/')) {
      log(`warning: no explorer at /: ${SITE_FOLDER} holds none; "npm run build" makes it`)
    }
    return shareSite([...made, ...files])
  } catch (error) {
    log(`warning: no pages: ${(error as Error).message}; "npm run build" makes them`)
    return shareSite(made)
  }
}

/** What `image_url` of a mission leads to: its name under a satellite with a beam that meets the waves. */
function pictureOf({ slug, name }: Mission): StaticFile {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 200" role="img" aria-label="${name}">
<rect width="320" height="200" fill="#0b2239"/>
<path d="M160 66 118 152h84Z" fill="#8fd3ff" opacity=".25"/>
<g fill="#d8e2ec"><rect x="146" y="40" width="28" height="26" rx="3"/><path d="M84 46h54v14H84zM182 46h54v14h-54z"/></g>
<path d="M0 152q40-20 80 0t80 0 80 0 80 0v48H0Z" fill="#1f6f9f"/>
<text x="160" y="186" fill="#fff" font-family="sans-serif" font-size="20" text-anchor="middle">${name}</text>
</svg>
`
  return {
    path: missionPicture(slug),
    type: 'image/svg+xml',
    bytes: Buffer.from(svg),
    cache: 'revalidate',
    contentSecurityPolicy: "default-src 'none'",
  }
}
