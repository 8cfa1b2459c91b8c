/** Words of names and queries as a search compares them: plain letters and digits, any spelling of saint. */

/** Stands for saint in each of its spellings; no text has it, as it is neither letter nor digit. */
const SAINT = '\u0001'
const SAINTS: ReadonlyMap<string, string> = new Map([
  ['st', 'saint'],
  ['saint', 'saint'],
  ['ste', 'sainte'],
  ['sainte', 'sainte'],
])
const SPELLINGS: readonly string[] = [...SAINTS.keys()]

/** Letters that are not a plain one with a mark, as people write them without a special keyboard. */
const PLAIN: { readonly [letter: string]: string } = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

/** Runs of letters and digits, without the apostrophes that Unicode counts as letters (ʻ, ʼ). */
const WORDS = /(?:(?![\u02b0-\u02ff])[\p{L}\p{N}])+/gu
const ASCII_WORDS = /[a-z0-9]+/g
// oxlint-disable-next-line no-control-regex -- NUL is ASCII, too
const IS_ASCII = /^[\0-\x7f]*$/

/** A text without case and accents: NFD, combining marks dropped, lower case. */
export function fold(text: string): string {
  const plain = IS_ASCII.test(text) ? text : text.normalize('NFD').replace(/\p{M}/gu, '')
  return plain.toLowerCase()
}

/** The words of a text that `fold` has given. */
export function wordsIn(folded: string): string[] {
  if (IS_ASCII.test(folded)) return folded.match(ASCII_WORDS) ?? []
  return folded.replaceAll(/[æœøßłđðþı]/g, (letter) => PLAIN[letter]).match(WORDS) ?? []
}

export const signOf = (word: string): string => (SAINTS.has(word) ? SAINT : word)

/** The words as written, with saint written out, and with saint as a sign. */
export function formsOf(words: readonly string[]): (readonly string[])[] {
  if (!words.some((word) => SAINTS.has(word))) return [words]
  const written = words.map((word) => SAINTS.get(word) ?? word)
  const forms = [written, words.map(signOf)]
  return written.join(' ') === words.join(' ') ? forms : [words, ...forms]
}

/** A query's words written together: as they are, and with saint as a sign. */
export function meaningsOf(words: readonly string[]): string[] {
  const meanings = [words.join('')]
  for (const spelling of SPELLINGS) {
    if (!words.some((word) => word.startsWith(spelling))) continue
    const signs = words.map((word) => {
      if (SAINTS.has(word)) return SAINT
      return word.startsWith(spelling) ? SAINT + word.slice(spelling.length) : word
    })
    const meaning = signs.join('')
    if (!meanings.includes(meaning)) meanings.push(meaning)
  }
  return meanings
}

const NUMBER = /\p{N}/u
export const isLetter = (unit: number): boolean =>
  unit < 0x80 ? unit >= 0x61 && unit <= 0x7a : !NUMBER.test(String.fromCharCode(unit))

export function lettersIn(text: string): number {
  let letters = 0
  for (let i = 0; i < text.length; i++) letters += Number(isLetter(text.charCodeAt(i)))
  return letters
}
