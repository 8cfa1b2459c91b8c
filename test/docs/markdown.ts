/** The documents of the repository as the tests look at them: their links, headings and pieces of code. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Folders that hold no documents of ours: what was installed, compiled, fetched or built. */
const FOREIGN = /^(node_modules|dist|dist\.d|\.git|coverage)$|^dist\.|^(fetched|snapshots)$/
const FOREIGN_PATHS = new Set(['bench/data'])

/** Files below `folder` whose names end with `ending`, as paths from the root. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) {
      return FOREIGN.test(entry.name) || FOREIGN_PATHS.has(path) ? [] : filesBelow(path, ending)
    }
    return entry.isFile() && entry.name.endsWith(ending) ? [path] : []
  })
}

export interface Document {
  /** From the root. */
  path: string
  text: string
  /** Without blocks of code. */
  prose: string
}

export function readDocument(path: string): Document {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return { path, text, prose: text.replaceAll(/^(```|~~~)[^]*?^\1[^\n]*$/gm, '') }
}

const unquoted = (line: string): string => line.replaceAll(/`[^`]*`/g, '')

/** Targets of links and pictures, in the order of the text. */
export function linksOf({ prose }: Document): string[] {
  return prose.split('\n').flatMap((line) => {
    if (line.startsWith('    ')) return []
    const shown = unquoted(line)
    return [...shown.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"\s]+)"/g)].map(
      ([, link, attribute]) => link ?? attribute,
    )
  })
}

/** What `#…` may lead to: headings as GitHub names them, the same words twice with a number behind. */
export function anchorsOf({ prose }: Document): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of prose.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = words.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-')
    for (let i = 0, name = slug; ; i++, name = `${slug}-${i}`) {
      if (anchors.has(name)) continue
      anchors.add(name)
      break
    }
  }
  for (const [, id] of prose.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}

/** Texts between backticks within the prose. */
export function quotedIn({ prose }: Document): string[] {
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text)
}
