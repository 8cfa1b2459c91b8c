/**
 * The texts of the pages: that each language has all, that no component has any of its own, and which is
 * chosen.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { chosenLanguage, LANGUAGES, localNumber, useLanguage } from '../../web/explorer/language.ts'
import { EN } from '../../web/explorer/texts/en.ts'
import { ES } from '../../web/explorer/texts/es.ts'
import { FR } from '../../web/explorer/texts/fr.ts'
import { PT } from '../../web/explorer/texts/pt.ts'

const EXPLORER = fileURLToPath(new URL('../../web/explorer/', import.meta.url))

/** Every text by its path; a function is called with signs of its arguments, which its text must have. */
function written(texts: object, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const at = `${path}.${name}`
    if (typeof value === 'string') return [[at, value]]
    if (typeof value !== 'function') return written(value as object, at)
    const signs = Array.from({ length: value.length }, (_, i) => 70 + i)
    return [[at, String((value as (...signs: number[]) => unknown)(...signs))]]
  })
}

test('Each language has every text of English, in words of its own and with every value in its place.', () => {
  const english = new Map(written(EN))
  for (const [language, texts] of Object.entries({ FR, ES, PT })) {
    const own = new Map(written(texts))
    assert.deepEqual([...own.keys()], [...english.keys()], language)
    const valuesIn = (text: string): string[] => (text.match(/7\d/g) ?? []).toSorted()
    for (const [at, text] of own) {
      assert.deepEqual(valuesIn(text), valuesIn(english.get(at)!), `${language}${at}`)
      assert.ok(!/ {2}|^ $/.test(text), `${language}${at}: ${text}`)
    }
    const sentences = [...own].filter(([at, text]) => text.length > 20 && text === english.get(at))
    assert.deepEqual(
      sentences.map(([at]) => at),
      ['.page.credit'],
      language,
    )
  }
})

/**
 * Where a program has words that are none of its texts: what JSX and HTML name their parts by, addresses, and
 * the errors that a developer reads.
 */
const NOT_SHOWN = [
  /\b(?:class|className|d|viewBox|placeholder|key|id|"aria-[a-z]+"): ?"[^"]*"/g,
  /\bnew (?:Error|ApiTrouble)\((?:"[^"]*", )?["`][^"`]*["`]/g,
  /\btitle="\$\{/g,
]

/** What looks like a text and is none. */
const ALLOWED = new Set([
  // Names of networks, of formats, and of the site.
  'NOAA National Data Buoy Center and its partners',
  'Candhis',
  'Candhis, Cerema and its partners',
  'Marine Institute',
  'Marine Institute, Ireland',
  'Parquet',
  // Headers, keys, kinds of GeoJSON and of selections, a kind of trouble.
  'Authorization: Bearer ',
  'Bearer ',
  'Date',
  'Limit',
  'Remaining',
  'Reset',
  'Enter',
  'Escape',
  'Feature',
  'Point',
  'Range',
  'not found',
  'noopener noreferrer',
  // Messages that are not shown: `texts.troubles` says it to visitors.
  'The answer cannot be read.',
  'The server answered .',
  // Classes, selectors and fonts.
  '11px sans-serif',
  '#credit span',
  'trouble box',
  'sub ago old',
  'icon icon-',
  'ago old',
  'chip ring',
  '<iframe src="${whole(',
])

test('No component says anything that is not among the texts.', () => {
  const files = readdirSync(EXPLORER, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('texts'))
    .toSorted()
  assert.ok(files.length > 30)
  const found = files.flatMap((file) => {
    const source = readFileSync(`${EXPLORER}${file}`, 'utf8')
    const { code } = transformSync(source, {
      loader: file.endsWith('x') ? 'tsx' : 'ts',
      jsx: 'automatic',
      charset: 'utf8',
    })
    const program = NOT_SHOWN.reduce((rest, pattern) => rest.replaceAll(pattern, ''), code)
    const strings = [...program.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)].map(
      ([, plain, template]) => plain ?? template?.replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '') ?? '',
    )
    // A capital with small letters begins a text, and so do words with a blank between them.
    return strings
      .filter((text) => /^\s*[A-ZÀ-Þ][a-zß-ÿ]+(?:[ ,.:…]|$)|[a-z]{2,} [a-z]{2,}/u.test(text))
      .filter((text) => !ALLOWED.has(text))
      .map((text) => `${file}: ${text}`)
  })
  assert.deepEqual(found, [])
})

test('The language is that of the address, else the first of the visitor that there is, else English.', () => {
  assert.deepEqual(LANGUAGES, ['en', 'fr', 'es', 'pt'])
  assert.deepEqual(chosenLanguage(null, ['fr-CA', 'en']), ['fr', 'fr-CA'])
  assert.deepEqual(chosenLanguage(null, ['de-DE', 'pt', 'en-US']), ['pt', 'pt'])
  assert.deepEqual(chosenLanguage('es', ['fr-FR']), ['es', 'es'])
  assert.deepEqual(chosenLanguage('es', ['fr-FR', 'es-MX']), ['es', 'es-MX'])
  assert.deepEqual(chosenLanguage('tlh', ['ja-JP']), ['en', 'en-GB'])
  assert.deepEqual(chosenLanguage(null, ['en-US']), ['en', 'en-US'])
  assert.deepEqual(chosenLanguage(null, ['en']), ['en', 'en-GB'])
  for (const nonsense of ['', '<b>', '__proto__', 'fr_FR.UTF-8', 'constructor', 'x'.repeat(999)])
    assert.deepEqual(chosenLanguage(nonsense, [nonsense]), ['en', 'en-GB'], nonsense)
})

test('Numbers are written as the language writes them.', async (t) => {
  t.after(() => useLanguage(null, []))
  assert.equal(await useLanguage(null, ['fr-FR']), 'fr')
  assert.equal(localNumber('-1.50'), '−1,50')
  assert.equal(await useLanguage('pt', []), 'pt')
  assert.equal(localNumber('0.5'), '0,5')
  assert.equal(await useLanguage(null, []), 'en')
  assert.equal(localNumber('0.5'), '0.5')
})
