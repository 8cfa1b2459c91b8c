/** The files that `init --table` is given: of a kind that is known already, or one table in many files. */
import { basename } from 'node:path'
import { BuildError } from '../system/build-error.ts'
import KNOWN from './known-kinds.json' with { type: 'json' }

/** An answer of Sofar's API: its map is in the documents. */
const SPOTTER = /"spotterId"/

/**
 * @param text the beginning of a file
 * @throws BuildError for a file of another kind, which names the kind
 */
export function expectNoKnownKind(path: string, text: string): void {
  for (const { name, kind, looks, page } of KNOWN) {
    if (!new RegExp(looks).test(text)) continue
    throw new BuildError(
      `${path}: is a file of ${name}, which has a kind of its own: "groundswell init --kind ${kind} --config ${kind}.json" writes an example; put the files into its folder, named as docs/${page}.md says`,
    )
  }
  if (SPOTTER.test(text)) {
    throw new BuildError(
      `${path}: is an answer for a Spotter of Sofar: "groundswell init --kind json --config spotter.json" writes its map; put the answers into its folder`,
    )
  }
}

/** A date in a name, else its last digits: next month's file has others there. */
const DATE = /(?<!\d)(?:19|20)\d\d(?:[._-]?\d\d){0,2}(?=\D|$)/
const LAST_DIGITS = /\d[\d._-]*(?=\D*$)/

/** The name of a file for others like it: `bank_03.csv` is `bank_{digits}.csv`. */
export function namesLike(name: string): string {
  const [stem, ending] = partsOf(name)
  const found = DATE.exec(stem) ?? LAST_DIGITS.exec(stem)
  if (found === null) return name
  const digits = found[0].replace(/[._-]+$/, '')
  return `${stem.slice(0, found.index)}{digits}${stem.slice(found.index + digits.length)}${ending}`
}

/**
 * The names of several files as one: `word` stands for where they differ. Null where they share no ending.
 */
export function namesAsOne(names: readonly string[], word: '*' | '{station}'): string | null {
  const endings = new Set(names.map((name) => partsOf(name)[1]))
  if (endings.size !== 1) return null
  const stems = names.map((name) => partsOf(name)[0])
  const front = sharedFront(stems)
  const back = sharedFront(stems.map((stem) => reversed(stem.slice(front.length))))
  return `${front}${word}${reversed(back)}${[...endings][0]}`
}

/** The station's part of a file's name: its letters, without the date. */
export function stationIn(template: string): string {
  const [stem] = partsOf(template)
  return stem.replace('{digits}', '').replace(/^[ ._-]+|[ ._-]+$/g, '') || stem
}

function partsOf(name: string): [stem: string, ending: string] {
  const plain = basename(name).replace(/\.gz$/i, '')
  const dot = plain.lastIndexOf('.')
  return dot <= 0 ? [plain, ''] : [plain.slice(0, dot), plain.slice(dot)]
}

// oxlint-disable-next-line typescript/no-misused-spread
const reversed = (text: string): string => [...text].reverse().join('')

/** The characters with which all texts begin, up to a sign between words. */
function sharedFront([first, ...others]: readonly string[]): string {
  let length = 0
  while (length < first.length && others.every((other) => other[length] === first[length])) length++
  return /^.*[ ._-]/.exec(first.slice(0, length))?.[0] ?? ''
}
