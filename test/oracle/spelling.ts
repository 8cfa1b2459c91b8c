/**
 * Searching as people type, the slow way: every buoy, every run of its words, and the whole table of
 * Damerau and Levenshtein for each. Written from `docs/http-buoys.md` alone.
 */

export interface Spelled {
  name: string
  slug: string
  identifier: string
  /** Empty without one. */
  country: string
}

const SAINT = '§'
const SAINTS = ['st', 'ste', 'saint', 'sainte']

const LATIN: [string, string][] = [
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ß', 'ss'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ı', 'i'],
]

function wordsOf(text: string): string[] {
  let plain = text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  for (const [letter, letters] of LATIN) plain = plain.replaceAll(letter, letters)
  const words = ['']
  for (const character of plain) {
    const isApostrophe = character >= 'ʰ' && character <= '˿'
    if (/[\p{L}\p{N}]/u.test(character) && !isApostrophe) words[words.length - 1] += character
    else words.push('')
  }
  return words.filter((word) => word !== '')
}

/** A name as written, with saint in full, and with one sign for it. */
function writings(text: string): string[][] {
  const words = wordsOf(text)
  const full = words.map((word) => ({ st: 'saint', ste: 'sainte' })[word] ?? word)
  return [words, full, words.map((word) => (SAINTS.includes(word) ? SAINT : word))]
}

/** What a query may mean: as typed, and with each of the spellings of saint taken off the words' front. */
function meanings(query: string): string[] {
  const words = wordsOf(query)
  const signed = SAINTS.flatMap((saint) => {
    if (words.every((word) => !word.startsWith(saint))) return []
    const others = words.map((word) => {
      if (SAINTS.includes(word)) return SAINT
      return word.startsWith(saint) ? SAINT + word.slice(saint.length) : word
    })
    return [others.join('')]
  })
  return [words.join(''), ...signed]
}

const isLetter = (unit: string): boolean => unit !== SAINT && !/\p{N}/u.test(unit)
const lettersIn = (text: string): number => text.split('').filter((unit) => isLetter(unit)).length

/** How many letters are missing, extra, wrong or swapped with their neighbour; digits cannot be. */
function distance(a: string, b: string): number {
  const cost = (...units: string[]): number => (units.every((unit) => isLetter(unit)) ? 1 : 1000)
  const table: number[][] = []
  for (let i = 0; i <= a.length; i++) {
    table.push([])
    for (let j = 0; j <= b.length; j++) {
      const ways = [i === 0 && j === 0 ? 0 : Infinity]
      if (i > 0) ways.push(table[i - 1][j] + cost(a[i - 1]))
      if (j > 0) ways.push(table[i][j - 1] + cost(b[j - 1]))
      if (i > 0 && j > 0)
        ways.push(table[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : cost(a[i - 1], b[j - 1])))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        ways.push(table[i - 2][j - 2] + cost(a[i - 1], a[i - 2]))
      }
      table[i].push(Math.min(...ways))
    }
  }
  return table[a.length][b.length]
}

const kept = new Map<string, string[][]>()

/** The words of each writing from each of its words on. */
function runsOf(text: string): string[][] {
  const known = kept.get(text)
  if (known !== undefined) return known
  const runs = writings(text).flatMap((words) => words.map((_, i) => words.slice(i)))
  kept.set(text, runs)
  return runs
}

const fieldsOf = ({ name, slug, identifier, country }: Spelled): string[] => [name, slug, identifier, country]

function begins(buoy: Spelled, text: string): boolean {
  return fieldsOf(buoy).some((field) => runsOf(field).some((run) => run.join('').startsWith(text)))
}

/** 1 for whole words, 2 for a beginning of words, null for neither. */
function nearly(buoy: Spelled, text: string): number | null {
  let best: number | null = null
  for (const run of fieldsOf(buoy).flatMap(runsOf)) {
    const together = run.join('')
    // One error touches two neighbours at most, so it leaves the first or the last units as they are.
    const kept = Math.max(0, Math.floor(text.length / 2) - 1)
    const ends = new Set(run.map((_, i) => run.slice(0, i + 1).join('').length))
    for (let end = Math.max(0, text.length - 1); end <= text.length + 1 && end <= together.length; end++) {
      const part = together.slice(0, end)
      if (!part.startsWith(text.slice(0, kept)) && !part.endsWith(text.slice(text.length - kept))) continue
      if (distance(text, part) > 1) continue
      best = Math.min(best ?? 2, ends.has(end) ? 1 : 2)
    }
  }
  return best
}

/** As typed but for blanks, hyphens and saint: 0 a name begins so, 1 a word does, 2 a word of the country. */
function spelledRank(buoy: Spelled, query: string): number | null {
  const texts = meanings(query)
  const { name, slug, identifier, country } = buoy
  if (texts.some((text) => writings(name).some((words) => words.join('').startsWith(text)))) return 0
  const words = [name, slug, identifier].flatMap((field) => runsOf(field))
  if (texts.some((text) => words.some((run) => run.join('').startsWith(text)))) return 1
  if (texts[0].length < 4) return null
  return texts.some((text) => runsOf(country).some((run) => run.join('').startsWith(text))) ? 2 : null
}

const signOf = (word: string): string => (SAINTS.includes(word) ? SAINT : word)

function anyOrderRank(buoy: Spelled, query: string): number | null {
  const words = wordsOf(query)
  if (words.length < 2 || words.length > 8) return null
  return words.every((word) => begins(buoy, signOf(word))) ? 3 : null
}

function errorRank(buoy: Spelled, query: string): number | null {
  const words = wordsOf(query)
  if (lettersIn(words.join('')) < 4) return null
  const near = meanings(query).flatMap((text) => nearly(buoy, text) ?? [])
  if (near.length > 0) return 3 + Math.min(...near)
  if (words.length < 2 || words.length > 8) return null
  const isNear = words.some(
    (word, i) =>
      lettersIn(word) >= 4 &&
      nearly(buoy, word) !== null &&
      words.every((other, k) => k === i || begins(buoy, signOf(other))),
  )
  return isNear ? 6 : null
}

/**
 * The looser rank of each buoy that matches, by its index: behind all that match exactly. `isExact` says
 * which those are; words in any order and errors count only where there is nothing else.
 */
export function looserRanks(
  buoys: readonly Spelled[],
  query: string,
  anyExact: boolean,
): Map<number, number> {
  const typed = wordsOf(query).join('')
  if (typed === '' || typed.length > 64 || query.length > 128) return new Map()
  const ranked = (rank: (buoy: Spelled, query: string) => number | null): Map<number, number> =>
    new Map(
      buoys.flatMap((buoy, i) => {
        const found = rank(buoy, query)
        return found === null ? [] : [[i, found] as const]
      }),
    )
  const spelled = ranked(spelledRank)
  if (anyExact || spelled.size > 0) return spelled
  const mixed = ranked(anyOrderRank)
  return mixed.size > 0 ? mixed : ranked(errorRank)
}
