/**
 * The examples of the pages about sources: of each kind its entry in a configuration, its files and commands.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { KINDS as ALL } from '../../src/sources/kinds.ts'
import type { SourceOptions } from '../../src/sources/source.ts'

export const textOf = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

interface Block {
  language: string
  /** The file that the block is, below the folder of its source; empty for none. */
  file: string
  text: string
}

const FENCE = /^```(\w+)(?: file=(\S+))?\n([^]*?)^```$/gm

export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(FENCE)].map(([, language, file = '', body]) => ({ language, file, text: body }))

/** Sections of the pages by their headings of the second level. */
function sectionsOf(pages: readonly string[]): Map<string, string> {
  const sections = new Map<string, string>()
  for (const part of pages.flatMap((page) => page.split(/^## /m).slice(1))) {
    const heading = part.slice(0, part.indexOf('\n'))
    assert.ok(!sections.has(heading), `two sections "## ${heading}"`)
    sections.set(heading, part.slice(part.indexOf('\n')))
  }
  return sections
}

const PAGES = readdirSync(fileURLToPath(new URL('../../docs', import.meta.url)))
  .filter((name) => /^sources(-[a-z]+)*\.md$/.test(name))
  .map((name) => `docs/${name}`)
const SECTIONS = sectionsOf(PAGES.map(textOf))
export const KINDS = Object.keys(ALL)

interface Entry {
  name: string
  kind: string
  folder?: string
  options?: SourceOptions
}

/** The example of a kind: what it says in the configuration, and its files. */
export function exampleOf(kind: string): { entry: Entry; files: Block[]; commands: string[] } {
  const blocks = blocksOf(SECTIONS.get(kind) ?? assert.fail(`${PAGES.join(', ')}: no section "## ${kind}"`))
  const entry = blocks.find(({ language, file }) => language === 'json' && file === '')
  assert.ok(entry, `${kind} has no entry of a configuration`)
  return {
    entry: JSON.parse(entry.text) as Entry,
    files: blocks.filter(({ file }) => file !== ''),
    commands: blocks.filter(({ language }) => language === 'sh').map(({ text }) => text.trim()),
  }
}
