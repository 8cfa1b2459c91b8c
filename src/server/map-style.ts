/**
 * What the operator opens of the pages' policies: by `--map-style` the servers of a style for the explorer's
 * map, by `--embed-from` the sites that may show the page of one buoy.
 */
import { EMBED_PATH } from '../http/static-site.ts'
import type { StaticFile } from './static-files.ts'

/** Where the style is, and the origins of it and of what it names. */
export interface MapStyle {
  /** An `https://` address or a path from the root. */
  readonly address: string
  readonly origins: readonly string[]
}

const MOST_CHARACTERS = 500
/** Nothing else can stand in a policy, which `;` and `,` would end. */
const ORIGIN = /^https:\/\/[a-z0-9.-]+(:[0-9]{1,5})?$/
const PATH = /^\/(?!\/)[\w.~:/?@!$&()*+,;=%-]*$/

/** The first text is the style, each further one a server. @throws Error saying what is allowed */
export function parseMapStyle(texts: readonly string[]): MapStyle | null {
  const [address = '', ...servers] = texts.filter((text) => text !== '')
  if (address === '') return null
  const own = originOf(address)
  const isStyle = address.length <= MOST_CHARACTERS && (own !== null || PATH.test(address))
  if (!isStyle || servers.some((server) => originOf(server) !== server)) {
    throw new Error(
      `the style's https:// address or path from the root, at most ${MOST_CHARACTERS} characters, then each further server that it names, such as https://tiles.example.org`,
    )
  }
  return { address, origins: [...new Set([...(own === null ? [] : [own]), ...servers])] }
}

function originOf(address: string): string | null {
  // A password would be shown to every visitor.
  const url = URL.canParse(address) ? new URL(address) : null
  return url !== null && url.username === '' && url.password === '' && ORIGIN.test(url.origin)
    ? url.origin
    : null
}

/** The explorer's page with a policy that lets it ask these servers. */
export function allowServers(file: StaticFile, { origins }: MapStyle): StaticFile {
  const { contentSecurityPolicy: policy } = file
  if (file.path !== '/' || policy === undefined) return file
  const directives = policy
    .split('; ')
    .map((directive) =>
      /^(connect|img)-src /.test(directive) ? [directive, ...origins].join(' ') : directive,
    )
  return { ...file, contentSecurityPolicy: directives.join('; ') }
}

/** The page of one buoy with a policy that lets this server's own pages and these sites show it. */
export function allowFrames(file: StaticFile, origins: readonly string[]): StaticFile {
  const { contentSecurityPolicy: policy } = file
  if (file.path !== EMBED_PATH || policy === undefined) return file
  const ancestors = ["frame-ancestors 'self'", ...origins].join(' ')
  return { ...file, contentSecurityPolicy: policy.replace("frame-ancestors 'none'", ancestors) }
}
