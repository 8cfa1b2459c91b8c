/** What the operator gives the pages: which pictures are taken, and how they go out. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { readLogo } from '../../src/server/logo.ts'
import { shareSite } from '../../src/server/static-files.ts'
import { accentOf, contrast } from '../../web/explorer/accent.ts'
import { temporaryFolder } from '../live.ts'

/** The start of a PNG of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const svg = (inside: string, more = ''): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"${more}>${inside}</svg>`

function taken(t: TestContext, bytes: string | Uint8Array) {
  const path = join(temporaryFolder(t), 'logo')
  writeFileSync(path, bytes)
  return readLogo(path)
}

test('A PNG and an SVG that only draws are taken, and an SVG goes out with a policy that lets it do no more.', (t) => {
  const png = taken(t, PNG)
  assert.equal(png.type, 'image/png')
  assert.match(png.path, /^\/assets\/logo-[0-9A-F]{8}\.png$/)
  const drawing = svg(
    '<defs><linearGradient id="a"/></defs><style>path { fill: url(#a) }</style><path d="M0 0h9" fill="url(\'#a\')"/><use href="#b"/><image href="data:image/png;base64,AA=="/>',
  )
  const file = taken(t, `<?xml version="1.0" encoding="UTF-8"?>\n<!-- drawn by hand -->${drawing}`)
  assert.equal(file.type, 'image/svg+xml')
  const [{ variants }] = shareSite([file]).files
  for (const { head } of variants) {
    assert.match(
      head,
      /\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; sandbox\r\n/,
    )
    assert.match(head, /\r\nX-Content-Type-Options: nosniff\r\n/)
  }
})

test('An SVG that runs, changes or fetches anything is refused, however it is written.', (t) => {
  const outside = 'https://elsewhere.example/x'
  for (const hostile of [
    svg('<script>alert(1)</script>'),
    svg('<SCRIPT/>'),
    svg('<s:script xmlns:s="http://www.w3.org/2000/svg"/>'),
    svg('', ' onload="alert(1)"'),
    svg('<path ONclick="x"/>'),
    svg('<foreignObject><b xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>'),
    svg(`<image href="${outside}"/>`),
    svg(`<use xlink:href="${outside}#a"/>`),
    svg('<a href="javascript:alert(1)"/>'),
    svg('<use href="data:image/svg+xml;base64,AA=="/>'),
    svg('<set attributeName="href" to="javascript:alert(1)"/>'),
    svg('<animate attributeName="onbegin" values="x"/>'),
    svg(`<path fill="url(${outside})"/>`),
    svg(`<path style="fill: URL( '${outside}' )"/>`),
    svg(`<style>@import "${outside}";</style>`),
    svg(`<style><![CDATA[path { fill: url(${outside}) }]]></style>`),
    svg('<style>@\\69mport "x"</style>'),
    `<!DOCTYPE svg [<!ENTITY a "b">]>${svg('&a;')}`,
    `<?xml-stylesheet href="${outside}"?>${svg('')}`,
    '<html xmlns="http://www.w3.org/1999/xhtml"><script/></html>',
    svg('<path>'),
    '',
    'GIF89a',
    Buffer.from([0xff, 0xfe, 0x3c]),
    svg(`<!--${'x'.repeat(257 * 1024)}-->`),
    Buffer.concat([PNG, Buffer.alloc(256 * 1024)]),
  ]) {
    assert.throws(
      () => taken(t, hostile),
      /a PNG, or an SVG without .* at most 256 KiB: \S/,
      String(hostile).slice(0, 200),
    )
  }
})

test('Any colour of the operator is made so light or so dark that it can be read in both themes.', () => {
  const colours = fc
    .integer({ min: 0, max: 0xffffff })
    .map((value) => `#${value.toString(16).padStart(6, '0')}`)
  fc.assert(
    fc.property(colours, (colour) => {
      const [light, dark] = [accentOf(colour, 'light'), accentOf(colour, 'dark')]
      // Texts on `--surface` and `--raised`, and of buttons on the colour itself.
      for (const below of ['#ffffff', '#f4f7f9'])
        assert.ok(contrast(light, below) >= 4.5, `${light} on ${below}`)
      for (const below of ['#13212b', '#1c2d39', '#08202b'])
        assert.ok(contrast(dark, below) >= 4.5, `${dark} on ${below}`)
    }),
  )
  assert.equal(accentOf('#0a6a8f', 'light'), '#0a6a8f', 'what can be read stays')
  assert.equal(contrast('#000000', '#ffffff'), 21)
})
