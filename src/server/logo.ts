/** The logo of the operator, for the pages: a PNG, or an SVG that does nothing but be drawn. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SaxesParser } from 'saxes'
import type { StaticFile } from './static-files.ts'

const MOST_KIB = 256
/** Every PNG begins so (PNG specification, 5.2). */
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** An image by `<img>` runs no script; whoever opens its address alone gets the same. */
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
/** Elements that run or load something, and animations that change attributes. */
const REFUSED_ELEMENTS = new Set(['script', 'foreignobject', 'iframe', 'handler', 'listener'])
const ADDRESS = /^(?:href|xlink:href|src)$/i
/** A part of the picture itself, or bytes within it. */
const INSIDE = /^\s*(?:#|data:image\/(?:png|jpeg|webp|gif);)/i

/** @throws Error saying what is allowed, and what is not in this file */
export function readLogo(path: string): StaticFile {
  const bytes = readFileOf(path)
  if (bytes.length > MOST_KIB * 1024) throw refused(`it has ${Math.ceil(bytes.length / 1024)} KiB`)
  const isPng = bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)
  if (!isPng) checkSvg(bytes)
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8).toUpperCase()
  return {
    path: `/assets/logo-${hash}.${isPng ? 'png' : 'svg'}`,
    type: isPng ? 'image/png' : 'image/svg+xml',
    bytes,
    cache: 'immutable',
    ...(!isPng && { contentSecurityPolicy: SVG_POLICY }),
  }
}

const refused = (why: string): Error =>
  new Error(
    `a PNG, or an SVG without scripts, event handlers, foreign objects and outside references, of at most ${MOST_KIB} KiB: ${why}`,
  )

function readFileOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw refused((error as Error).message)
  }
}

function checkSvg(bytes: Buffer): void {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refused('it is neither a PNG nor text')
  }
  const found = faultOf(text)
  if (found !== null) throw refused(found)
}

function faultOf(text: string): string | null {
  let fault: string | null = null
  const say = (found: string): void => void (fault ??= found)
  const parser = new SaxesParser()
  let isFirst = true
  let style: string | null = null
  parser.on('error', () => say('it is not well-formed XML'))
  // Entities stand for anything.
  parser.on('doctype', () => say('it has a document type'))
  parser.on('processinginstruction', () => say('it has a processing instruction'))
  parser.on('opentag', ({ name, attributes }) => {
    const local = name.slice(name.indexOf(':') + 1).toLowerCase()
    if (isFirst && local !== 'svg') say('it is no SVG')
    isFirst = false
    if (REFUSED_ELEMENTS.has(local)) say(`it has a <${local}>`)
    if (local === 'style') style = ''
    for (const [attribute, value] of Object.entries(attributes)) {
      const isHandler = /^on/i.test(attribute.slice(attribute.indexOf(':') + 1))
      if (isHandler) say('it has an event handler')
      if (ADDRESS.test(attribute) && !INSIDE.test(value)) say('it has an outside reference')
      // An animation that sets an address.
      if (/^attributeName$/i.test(attribute) && /^(?:on|(?:xlink:)?href)/i.test(value.trim()))
        say('it changes an address')
      if (refersOutside(value)) say('it has an outside reference')
    }
  })
  const read = (part: string): void => {
    if (style !== null) style += part
  }
  parser.on('text', read)
  parser.on('cdata', read)
  parser.on('closetag', () => {
    if (style !== null && (/@import|\\/i.test(style) || refersOutside(style)))
      say('its style refers to the outside')
    style = null
  })
  try {
    parser.write(text).close()
  } catch {
    say('it is not well-formed XML')
  }
  return isFirst ? (fault ?? 'it is no SVG') : fault
}

/** Whether a style has the address of anything but a part of the picture. A backslash could hide one. */
const refersOutside = (css: string): boolean =>
  (/url\s*\(/i.test(css) && css.includes('\\')) ||
  [...css.matchAll(/url\s*\(\s*["']?([^"')]*)/gi)].some(([, address = '']) => !INSIDE.test(address))
