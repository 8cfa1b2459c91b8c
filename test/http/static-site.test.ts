/** Static files: the bytes on the wire for each encoding, condition and method, on both engines. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { Site } from '../../src/http/static-site.ts'
import { readSite, shareSite, type PageValues, type StaticFile } from '../../src/server/static-files.ts'
import type { Answer } from './raw_client.ts'
import { ENGINES, EngineServer, missing } from './server_for_tests.ts'
import { temporaryFolder } from '../live.ts'
import { USUAL } from '../server/built_site.ts'

const TEXT = 'Waves come in sets. '.repeat(200)

const PAGE: StaticFile = {
  path: '/',
  type: 'text/html; charset=utf-8',
  bytes: Buffer.from(TEXT),
  cache: 'revalidate',
  contentSecurityPolicy: "default-src 'none'",
}
const ASSET: StaticFile = {
  path: '/assets/a-1.js',
  type: 'text/javascript; charset=utf-8',
  bytes: Buffer.from(TEXT),
  cache: 'immutable',
  // Marked, so that it differs from what is made at start.
  compressed: { br: brotliCompressSync(`made before. ${TEXT}`) },
}
const NOISE: StaticFile = {
  path: '/noise.png',
  type: 'image/png',
  // Hashes have no pattern to compress.
  bytes: Buffer.concat(Array.from({ length: 16 }, (_, i) => createHash('sha256').update(String(i)).digest())),
  cache: 'immutable',
}

const CONTACT = '<b onclick="x"> & {{base_path}}'
const VALUES: PageValues = { ...USUAL, contact: CONTACT }
const PAGE_OF_MARKS = '<a href="{{base_path}}/buoys" title="{{contact}}">{{explorer}}</a>'

for (const kind of ENGINES) {
  describe(`static files over ${kind}`, { skip: missing(kind) }, () => {
    /** The answer to one request, its body as bytes. */
    const serve = async (
      t: TestContext,
    ): Promise<(line: string, ...headers: string[]) => Promise<[Answer, Buffer]>> => {
      const site = new Site(shareSite([PAGE, ASSET, NOISE]))
      const server = await new EngineServer(kind, (exchange) => {
        if (!site.serve(exchange)) exchange.send('404 Not Found', Buffer.from('none'))
      }).until(t)
      return async (line, ...headers) => {
        const answer = await server.open().ask(line, headers)
        return [answer, answer.bytes]
      }
    }
    const header = (answer: Answer, name: string): string => answer.headers.get(name)?.join('|') ?? ''

    it('come in the encoding that the client prefers, each encoding with its own ETag', async (t) => {
      const ask = await serve(t)
      const etags = new Set<string>()
      for (const [accepted, encoding, unpack] of [
        ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
        ['gzip', 'gzip', gunzipSync],
        ['br;q=0.2, gzip;q=0.8', 'gzip', gunzipSync],
        ['zstd', '', (bytes: Buffer) => bytes],
        ['identity', '', (bytes: Buffer) => bytes],
        ['', '', (bytes: Buffer) => bytes],
      ] as const) {
        const [answer, body] = await ask(
          'GET /',
          ...(accepted === '' ? [] : [`Accept-Encoding: ${accepted}`]),
        )
        assert.equal(answer.status, 200, accepted)
        assert.equal(header(answer, 'content-encoding'), encoding, accepted)
        assert.equal(unpack(body).toString(), TEXT, accepted)
        assert.equal(header(answer, 'content-length'), String(body.length))
        assert.equal(header(answer, 'vary'), 'Accept-Encoding')
        assert.match(header(answer, 'etag'), /^"[\w-]{22}(-br|-gzip)?"$/)
        etags.add(header(answer, 'etag'))
      }
      assert.equal(etags.size, 3)
    })

    it('are cached for a year if their name changes with their bytes, and revalidated if not', async (t) => {
      const ask = await serve(t)
      const [page] = await ask('GET /')
      assert.equal(header(page, 'cache-control'), 'no-cache')
      assert.equal(header(page, 'content-security-policy'), "default-src 'none'")
      assert.equal(header(page, 'x-frame-options'), 'DENY')
      assert.equal(header(page, 'referrer-policy'), 'no-referrer')
      const [asset] = await ask('GET /assets/a-1.js')
      assert.equal(header(asset, 'cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(header(asset, 'content-type'), 'text/javascript; charset=utf-8')
      assert.equal(header(asset, 'x-content-type-options'), 'nosniff')
      assert.equal(header(asset, 'access-control-allow-origin'), '*')
      assert.equal(header(asset, 'content-security-policy'), '')
    })

    it('are sent in the form of the build, and plain where compressing saves nothing', async (t) => {
      const ask = await serve(t)
      const [, made] = await ask('GET /assets/a-1.js', 'Accept-Encoding: br, gzip')
      assert.match(brotliDecompressSync(made).toString(), /^made before/)
      const [plain] = await ask('GET /assets/a-1.js', 'Accept-Encoding: gzip')
      assert.equal(header(plain, 'content-encoding'), '')
      const [noise, bytes] = await ask('GET /noise.png', 'Accept-Encoding: br, gzip')
      assert.equal(header(noise, 'content-encoding'), '')
      assert.ok(bytes.equals(NOISE.bytes), 'the bytes of the image')
    })

    it('answer 304 to an ETag of the same encoding, and 200 to one of another', async (t) => {
      const ask = await serve(t)
      const [brotli] = await ask('GET /', 'Accept-Encoding: br')
      const etag = header(brotli, 'etag')
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const [again, body] = await ask('GET /', 'Accept-Encoding: br', `If-None-Match: ${condition}`)
        assert.equal(again.status, 304, condition)
        assert.equal(body.length, 0)
        assert.equal(header(again, 'etag'), etag)
        assert.equal(header(again, 'vary'), 'Accept-Encoding')
        assert.equal(header(again, 'cache-control'), 'no-cache')
      }
      for (const condition of ['"other"', etag.replaceAll('"', '')]) {
        const [again] = await ask('GET /', 'Accept-Encoding: br', `If-None-Match: ${condition}`)
        assert.equal(again.status, 200, condition)
      }
      const [gzip] = await ask('GET /', 'Accept-Encoding: gzip', `If-None-Match: ${etag}`)
      assert.equal(gzip.status, 200)
    })

    it('answer HEAD with the length and without the body, and no other paths', async (t) => {
      const ask = await serve(t)
      const [whole] = await ask('GET /', 'Accept-Encoding: gzip')
      const [head, body] = await ask('HEAD /', 'Accept-Encoding: gzip')
      assert.equal(head.status, 200)
      assert.equal(body.length, 0)
      for (const name of ['content-length', 'etag', 'content-encoding', 'content-type']) {
        assert.equal(header(head, name), header(whole, name), name)
      }
      for (const path of ['/assets', '/assets/../', '//', '/%2e', '/assets/a-1.js.br', '/files.json']) {
        const [none] = await ask(`GET ${path}`)
        assert.equal(none.status, 404, path)
      }
      const [withQuery] = await ask('GET /?utm=1')
      assert.equal(withQuery.status, 200)
    })
  })
}

describe('the files of the site', () => {
  it('are read with their forms of the build, and templates with the base path', (t) => {
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'part'))
    const list = [
      { path: '/', file: 'page.html', type: 'text/html', cache: 'revalidate', template: true },
      { path: '/assets/a.js', file: 'a.js', type: 'text/javascript', cache: 'immutable' },
    ]
    writeFileSync(join(folder, 'part', 'files.json'), JSON.stringify(list))
    writeFileSync(join(folder, 'part', 'page.html'), PAGE_OF_MARKS)
    writeFileSync(join(folder, 'part', 'a.js'), 'one')
    writeFileSync(join(folder, 'part', 'a.js.gz'), gzipSync('one'))
    const [page, asset] = readSite(folder, { ...VALUES, base_path: '/api/v2' })
    assert.equal(
      Buffer.from(page.bytes).toString(),
      '<a href="/api/v2/buoys" title="&#60;b onclick=&#34;x&#34;&#62; &#38; {{base_path}}">keyed</a>',
    )
    assert.deepEqual([page.path, page.type, page.cache], ['/', 'text/html', 'revalidate'])
    assert.equal(page.compressed, undefined)
    assert.deepEqual(Object.keys(asset.compressed ?? {}), ['gzip'])
  })

  it('are none without a build, and an error if a part is broken', (t) => {
    const folder = temporaryFolder(t)
    assert.deepEqual(readSite(join(folder, 'nowhere'), VALUES), [])
    mkdirSync(join(folder, 'part'))
    assert.throws(() => readSite(folder, VALUES), /files\.json/)
  })

  it('have different paths', () => {
    assert.throws(() => shareSite([PAGE, { ...ASSET, path: '/' }]), /two files .* \//)
  })
})
