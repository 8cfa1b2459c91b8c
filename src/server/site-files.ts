/** The pages that a server offers with the API: its description, the explorer and the documentation. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { AnonymousAccess } from '../http/admission.ts'
import { openApiDocument, type OpenApiDocument } from '../openapi/document.ts'
import { pascal } from '../openapi/responses.ts'
import type { Schema } from '../openapi/schemas.ts'
import type { Declared } from '../operation/operation.ts'
import { ROUTED } from '../routes.ts'
import { missionPicture, MISSIONS, type Mission } from '../sea/missions.ts'
import { EMBED_PATH, type SharedSite } from '../http/static-site.ts'
import { allowFrames, allowServers, readSite, shareSite } from './static-files.ts'
import type { StaticFile } from './static-files.ts'
import type { ServeConfig } from './serve-settings.ts'
import type { LogLine } from '../system/log.ts'

/** Next to the compiled code. */
const SITE_FOLDER = fileURLToPath(new URL('../site/', import.meta.url))
/** Holds the id of the process that makes the pages; it is gone when they are there, or cannot be made. */
const PAGES_MAKER = fileURLToPath(new URL('../pages.pid', import.meta.url))
const PAGES_LOOK_MS = 50
/** No machine takes that long; another process may have got the id of a maker that was killed. */
const PAGES_WAIT_MS = 600_000

/** Whether a process makes the pages: the first build of a clone does so after the program. */
export function arePagesMade(): boolean {
  try {
    return process.kill(Number(readFileSync(PAGES_MAKER, 'utf8')), 0)
  } catch {
    return false
  }
}

/** Waits until nobody makes the pages, or the server `hasEnded`. */
export async function waitForPages(hasEnded: () => boolean): Promise<void> {
  const end = performance.now() + PAGES_WAIT_MS
  while (arePagesMade() && performance.now() < end && !hasEnded()) {
    await sleep(PAGES_LOOK_MS, undefined, { ref: false })
  }
}

/** Settings that the pages depend on. */
type SiteConfig = Pick<
  ServeConfig,
  | 'base-path'
  | 'contact'
  | 'edr'
  | 'embed-from'
  | 'map-style'
  | 'mcp'
  | 'public-url'
  | 'title'
  | 'logo'
  | 'accent'
>

/** Reads the site into shared memory. Without the built pages the operations are served all the same. */
export function startSite(
  config: SiteConfig,
  anonymousAccess: AnonymousAccess,
  { log, refreshEvery = 0 }: { log: LogLine; refreshEvery?: number },
): SharedSite {
  const { 'base-path': basePath, 'map-style': mapStyle, 'embed-from': embedFrom } = config
  const areMade = arePagesMade()
  const logo = config.logo === null ? [] : [config.logo]
  const made = [...descriptionFiles(ROUTED, config), ...MISSIONS.map(pictureOf), ...logo]
  try {
    const files = readSite(SITE_FOLDER, {
      base_path: basePath,
      explorer: anonymousAccess === 'keyed' ? 'keyed' : 'open',
      refresh: String(refreshEvery),
      contact: config.contact ?? '',
      embed: embedFrom.length > 0 ? 'others' : '',
      map_style: mapStyle?.address ?? '',
      public_url: config['public-url'] ?? '',
      title: config.title ?? 'groundswell',
      logo: config.logo?.path.slice(1) ?? '',
      accent: config.accent ?? '',
    })
      .map((file) => (mapStyle === null ? file : allowServers(file, mapStyle)))
      .map((file) => allowFrames(file, embedFrom))
    if (!files.some(({ path }) => path === '/')) {
      if (areMade) return shareSite([...made, ...BEING_MADE])
      log(`no explorer at /: ${SITE_FOLDER} holds none; "npm run build" makes it`, 'warning')
    }
    return shareSite([...made, ...files])
  } catch (error) {
    log(`no pages: ${(error as Error).message}; "npm run build" makes them`, 'warning')
    return shareSite(made)
  }
}

/** In place of pages that are still being made. A browser asks again by itself. */
const BEING_MADE: readonly StaticFile[] = ['/', EMBED_PATH, '/docs', '/docs/'].map((path) => ({
  path,
  status: '503 Service Unavailable\r\nRetry-After: 1',
  type: 'text/html; charset=utf-8',
  bytes: Buffer.from(
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="1">' +
      '<title>groundswell</title><p>This page is being made, once after an installation. It will soon appear.</p></html>\n',
  ),
  cache: 'revalidate',
  contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
}))

/** The picture at `image_url` of a mission: its name under a satellite with a beam that meets the waves. */
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

/** `openapi.json` below `basePath` for programs, `/llms.txt` for language models. They need no key. */
function descriptionFiles(operations: readonly Declared[], config: SiteConfig): StaticFile[] {
  const basePath = config['base-path']
  const document = openApiDocument(operations, basePath)
  const file = (path: string, body: object | string, type = 'application/json'): StaticFile => {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    return { path, type, bytes, cache: 'revalidate' }
  }
  const linkset = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
  const catalog = file('/.well-known/api-catalog', catalogOf(basePath), linkset)
  return [
    ...[basePath, `${basePath}/`].map((path) => file(path, indexOf(document))),
    file(`${basePath}/openapi.json`, document),
    file('/llms.txt', llmsText(document, config), 'text/plain; charset=utf-8'),
    // RFC 9727 wants it of HEAD.
    { ...catalog, link: '</.well-known/api-catalog>; rel="api-catalog"' },
  ]
}

/** The answer to the base path: the operations below it. */
function indexOf({ info: { title, version, summary }, paths }: OpenApiDocument): object {
  return {
    name: title,
    version,
    summary,
    description: '/openapi.json',
    operations: Object.entries(paths).map(([path, { get }]) => ({ path, summary: get.summary })),
  }
}

/** A link set (RFC 9264). Its addresses are relative to its own: the host of a request is not repeated. */
function catalogOf(basePath: string): object {
  return {
    linkset: [
      {
        anchor: basePath,
        'service-desc': [{ href: `${basePath}/openapi.json`, type: 'application/json' }],
        'service-doc': [
          { href: '/docs', type: 'text/html' },
          { href: '/llms.txt', type: 'text/plain' },
        ],
      },
    ],
  }
}

/** One plain text with all that a language model needs to write calls, in the form of llmstxt.org. */
function llmsText(
  { info, paths, servers: [{ url }], components }: OpenApiDocument,
  { edr, mcp }: SiteConfig,
): string {
  const operations = Object.entries(paths).map(([path, { get }]) => {
    const parameters = get.parameters.flatMap(({ name, in: location, required, description }) =>
      location === 'query'
        ? [`- \`${String(name)}\`${required === true ? ' (required)' : ''}: ${String(description)}`]
        : [],
    )
    const lines = [`### GET ${url}${path}`, '', `${String(get.summary)}. ${String(get.description)}`]
    // A stream has no answer schema.
    const answer: Schema | undefined = components.schemas[`${pascal(get.operationId)}Answer`]
    const data = (answer?.properties as { data?: Schema } | undefined)?.data
    const fields = data === undefined ? [] : fieldLines(data, 'data')
    return [
      ...lines,
      ...(parameters.length === 0 ? [] : ['', 'Parameters:', '', ...parameters]),
      ...(fields.length === 0 ? [] : ['', 'Answer:', '', ...fields]),
    ].join('\n')
  })
  const objects = Object.entries(components.schemas).flatMap(([name, schema]) => {
    const fields = name.endsWith('Answer') && name !== 'ErrorAnswer' ? [] : fieldLines(schema, '')
    return fields.length === 0 ? [] : [[`### ${name}`, '', ...fields].join('\n')]
  })
  const others = [
    ...(mcp === 'on'
      ? [
          '- [Tools for assistants](/mcp): Model Context Protocol by POST (Streamable HTTP), with the same key',
        ]
      : []),
    ...(edr === 'on' ? ['- [OGC API - EDR](/edr): the same data under CF standard names'] : []),
  ]
  return `# ${info.title}

> ${info.summary}

- [OpenAPI 3.1 description](${url}/openapi.json): every field with its unit, every error, with examples
- [Documentation](/docs): the same to read, with every operation to try
${others.join('\n')}

${info.description.replaceAll(/^(#+) /gm, '#$1 ')}

## Operations

${operations.join('\n\n')}

## Fields

${objects.join('\n\n')}
`
}

interface Form {
  readonly $ref?: string
  readonly type?: string | string[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}

/** A line for each member of an object, and of what is in it without a name of its own. */
function fieldLines(schema: Schema, path: string): string[] {
  const { properties, items, oneOf, anyOf } = schema as Form
  if (items !== undefined) return fieldLines(items, `${path}[]`)
  const either = oneOf ?? anyOf
  if (either !== undefined) return [...new Set(either.flatMap((one) => fieldLines(one, path)))]
  return Object.entries(properties ?? {}).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    const text = typeof field.description === 'string' ? `: ${field.description}` : ''
    const hasUnit = typeof field['x-unit'] === 'string' && !text.includes(`in ${field['x-unit']}`)
    const unit = hasUnit ? `, in ${String(field['x-unit'])}` : ''
    return [`- \`${at}\` (${typeText(field)}${unit})${text}`, ...fieldLines(field, at)]
  })
}

/** `list of Buoy`, `number or null`. */
function typeText(schema: Schema): string {
  const { $ref, type, items, oneOf, anyOf } = schema as Form
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (items !== undefined) return `list of ${typeText(items)}`
  const either = oneOf ?? anyOf
  if (either !== undefined) return [...new Set(either.map((one) => typeText(one)))].join(' or ')
  if (type !== undefined) return [type].flat().join(' or ')
  return 'const' in schema ? JSON.stringify(schema.const) : 'value'
}
