/** What the server itself adds to the built pages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMapStyle } from '../../src/server/serve-settings.ts'
import { startSite, waitForPages } from '../../src/server/site-files.ts'
import { allowFrames, allowServers, shareSite } from '../../src/server/static-files.ts'
import type { MapStyle, StaticFile } from '../../src/server/static-files.ts'
import { ROUTED } from '../../src/routes.ts'
import { fieldOf, fieldsOf } from '../fields.ts'
import { builtSite } from './built_site.ts'

function site(): Map<string, { head: string; text: string }> {
  const config = {
    'base-path': '/v3',
    contact: null,
    'map-style': null,
    'public-url': null,
    'embed-from': [],
    edr: 'on' as const,
    mcp: 'on' as const,
    title: null,
    logo: null,
    accent: null,
  }
  const { memory, files } = startSite(config, 'keyed', { log: () => {} })
  return new Map(
    files.map(({ path, variants }) => {
      const { head, start, end } = variants.at(-1)!
      return [path, { head, text: Buffer.from(memory, start, end - start).toString() }]
    }),
  )
}

test('The catalogue of APIs names files that are served, by addresses without a host.', () => {
  const served = site()
  const { head, text } = served.get('/.well-known/api-catalog')!
  assert.match(head, /Content-Type: application\/linkset\+json;/)
  assert.match(head, /\r\nLink: <\/\.well-known\/api-catalog>; rel="api-catalog"(\r|$)/)
  const { linkset } = JSON.parse(text) as { linkset: { [relation: string]: string | { href: string }[] }[] }
  assert.equal(linkset[0].anchor, '/v3')
  const targets = Object.values(linkset[0]).flatMap((links) => (typeof links === 'string' ? [] : links))
  assert.deepEqual(fieldOf(targets, 'href'), ['/v3/openapi.json', '/docs', '/llms.txt'])
  const built = builtSite({ base_path: '/v3' })
  for (const { href } of targets) assert.ok(served.has(href) || built.some(({ path }) => path === href), href)
})

test('Language models are told of the tools and of EDR.', () => {
  const { text } = site().get('/llms.txt')!
  assert.match(text, /\]\(\/mcp\): Model Context Protocol.*\n- \[OGC API - EDR\]\(\/edr\)/)
})

test('Where no process makes the pages, nothing is waited for.', async () => {
  await waitForPages(() => false)
})

test('The base path has an index: every operation, and where the description is.', () => {
  const served = site()
  for (const path of ['/v3', '/v3/']) {
    const { head, text } = served.get(path)!
    assert.match(head, /^200 OK\r\nContent-Type: application\/json/)
    const { description, operations } = JSON.parse(text) as { description: string; operations: object[] }
    assert.ok(served.has(`/v3${description}`))
    assert.deepEqual(
      operations,
      fieldsOf(ROUTED, 'path', 'summary').map(([path, summary]) => ({ path, summary })),
    )
  }
})

test('A map of the operator opens the policy of the explorer to the servers that were named, and no other page.', () => {
  const style = parseMapStyle(['https://tiles.example/a.json?k="&<', 'https://cdn.example:8443'])!
  const pageOf = (path: string, mapStyle: MapStyle | null): StaticFile =>
    builtSite({ map_style: mapStyle?.address ?? '' })
      .map((file) => (mapStyle === null ? file : allowServers(file, mapStyle)))
      .find((file) => file.path === path)!
  const own = pageOf('/', null).contentSecurityPolicy!
  assert.match(own, /connect-src 'self';/)
  const page = pageOf('/', style)
  assert.match(
    Buffer.from(page.bytes).toString(),
    /data-map-style="https:\/\/tiles\.example\/a\.json\?k=&#34;&#38;&#60;"/,
  )
  const servers = 'https://tiles.example https://cdn.example:8443'
  assert.equal(
    page.contentSecurityPolicy,
    own
      .replace("connect-src 'self'", `connect-src 'self' ${servers}`)
      .replace("img-src 'self' data:", `img-src 'self' data: ${servers}`),
  )
  assert.deepEqual(pageOf('/docs', style), pageOf('/docs', null))
  assert.equal(pageOf('/', parseMapStyle(['/maps/style.json'])).contentSecurityPolicy, own)
})

test('Other sites may show the page of one buoy alone, and previews of the explorer have the address that was set.', () => {
  const files = builtSite({ public_url: 'https://buoys.example' }).map((file) =>
    allowFrames(file, ['https://blog.example']),
  )
  const heads = new Map(shareSite(files).files.map(({ path, variants }) => [path, variants[0].head]))
  assert.match(heads.get('/embed/')!, /frame-ancestors 'self' https:\/\/blog\.example\r\n/)
  assert.doesNotMatch(heads.get('/embed/')!, /X-Frame-Options|unsafe/)
  for (const path of ['/', '/docs']) {
    assert.match(heads.get(path)!, /frame-ancestors 'none'[^]*X-Frame-Options: DENY/, path)
  }
  const textOf = (path: string): string =>
    Buffer.from(files.find((file) => file.path === path)!.bytes).toString()
  const [, picture] = /og:image" content="https:\/\/buoys\.example(\/assets\/share-\w+\.png)"/.exec(
    textOf('/'),
  )!
  assert.match(heads.get(picture)!, /Content-Type: image\/png/)
  const [, manifest] = /rel="manifest" href="(assets\/[^"]+)"/.exec(textOf('/'))!
  const { icons } = JSON.parse(textOf(`/${manifest}`)) as { icons: { src: string }[] }
  assert.ok(heads.has(`/assets/${icons[0].src}`), 'the icon of the manifest is served')
})
