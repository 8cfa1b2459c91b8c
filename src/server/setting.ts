/**
 * Kinds of settings. Each takes the texts of a setting in order, of which the last one counts, and throws an
 * Error with what is allowed, which fits after "expected ".
 */
import { parseAddress } from '../access/ip-address.ts'

/** A command line that cannot be understood (exit code 2). The message names the option. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export interface Parser<T> {
  (texts: readonly string[]): T
  /** For `--help` and the manual: `1 to 64` or `at most 20d`. */
  readonly range?: string
}

export interface Setting<T> {
  readonly placeholder: string
  readonly help: string
  /** A setting without a default may be left out. */
  readonly default?: string
  /** The default is this name in the data folder. */
  readonly under?: string
  readonly required?: boolean
  /** A variable that platforms set by convention, which counts after the setting's own. */
  readonly variable?: string
  readonly flag?: boolean
  /** May be given several times. In an environment variable, blanks separate the values. */
  readonly multiple?: boolean
  readonly parse: Parser<T>
}

// oxlint-disable-next-line typescript/no-explicit-any -- a bag of settings of any types
export type Settings = { readonly [option: string]: Setting<any> }
export type ConfigOf<S extends Settings> = Readonly<{
  [option in keyof S]: S[option] extends Setting<infer T> ? T : never
}>

export function setting<T>(
  placeholder: string,
  help: string,
  fallback: string,
  parse: Parser<T>,
): Setting<T> {
  return { placeholder, help, default: fallback, parse }
}

export function flag(help: string): Setting<boolean> {
  return { placeholder: '', help, flag: true, parse: isOn }
}

export function optional(placeholder: string, help: string): Setting<string | null> {
  return setting(placeholder, help, '', orNull(last))
}

/** A setting that is a list. Its variable may be empty. */
export function several<T>(
  placeholder: string,
  help: string,
  parse: (texts: readonly string[]) => T,
): Setting<T> {
  const given = (texts: readonly string[]): T => parse(texts.filter((each) => each !== ''))
  return {
    placeholder,
    help: `${help}; may be given several times`,
    default: '',
    multiple: true,
    parse: given,
  }
}

const withRange = <T>(range: string, parse: (texts: readonly string[]) => T): Parser<T> =>
  Object.assign(parse, { range })

export const last = (texts: readonly string[]): string => texts[texts.length - 1]

/** Null for an empty text. */
export function orNull<T>(parse: Parser<T>): Parser<T | null> {
  return (texts) => (last(texts) === '' ? null : parse(texts))
}

/** An empty address would mean every address, and an empty path the current folder, so neither is taken. */
export function text(texts: readonly string[]): string {
  if (last(texts) === '') throw new Error('a value that is not empty')
  return last(texts)
}

/** An address of IPv4 or IPv6, or a host's name. A port has an option of its own. */
export function address(texts: readonly string[]): string {
  const host = text(texts)
  if (/[:/]/.test(host) && !parseAddress(host, new Int32Array(4)))
    throw new Error('an address or the name of a host, without a port, brackets or http://')
  return host
}

export function plainLine(mostCharacters: number): Parser<string> {
  return (texts) => {
    const line = last(texts).trim()
    if (line === '' || line.length > mostCharacters || /\p{C}/u.test(line)) {
      throw new Error(`one line of at most ${mostCharacters} characters`)
    }
    return line
  }
}

export function oneOf<const Name extends string>(names: readonly Name[]): Parser<Name> {
  return (texts) => {
    const found = names.find((name) => name === last(texts))
    if (found === undefined) throw new Error(`one of ${names.join(', ')}`)
    return found
  }
}

export function wholeNumber(minimum: number, maximum: number): Parser<number> {
  return withRange(`${minimum} to ${maximum}`, (texts) => {
    const digits = last(texts)
    const value = /^[0-9]{1,15}$/.test(digits) ? Number(digits) : NaN
    if (!(value >= minimum && value <= maximum)) {
      throw new Error(`a whole number from ${minimum} to ${maximum}`)
    }
    return value
  })
}

/** A switch is on when its option is given, or when its variable is `true` or `1`. */
function isOn(texts: readonly string[]): boolean {
  const word = texts.length === 0 ? 'false' : last(texts)
  if (!/^(true|false|1|0)$/.test(word)) throw new Error('true, false, 1 or 0')
  return word === 'true' || word === '1'
}

/** A percentage such as `5%`, as a number from 0 to 1. */
export function share(texts: readonly string[]): number {
  const match = /^([0-9]{1,3}(?:\.[0-9]{1,3})?)%$/.exec(last(texts))
  if (match === null || Number(match[1]) > 100) throw new Error('a percentage such as 5%')
  return Number(match[1]) / 100
}

const SECONDS_OF_UNIT: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: 86400 }

/** A timer of Node ends a wait of 2^31 ms, 24.8 days, at once; a mirror waits a tenth longer at times. */
export const LONGEST_WAIT_DAYS = 20

/** Seconds of `90s`, `30m`, `24h` or `7d`, and with `isZeroToo` of `0`. */
export function duration(mostDays: number, isZeroToo = false): Parser<number> {
  return withRange(`at most ${mostDays}d`, (texts) => {
    const [, count, unit] = /^([0-9]{1,6})([smhd])$/.exec(last(texts)) ?? []
    const seconds = isZeroToo && last(texts) === '0' ? 0 : Number(count) * SECONDS_OF_UNIT[unit]
    if (seconds <= mostDays * SECONDS_OF_UNIT.d && (seconds > 0 || isZeroToo)) return seconds
    const kind = isZeroToo ? '0, or a duration' : 'a duration above zero'
    throw new Error(`${kind} such as 90s, 30m, 24h or 7d, at most ${mostDays}d`)
  })
}

const BYTES_OF_UNIT: { readonly [unit: string]: number } = {
  '': 1,
  B: 1,
  KB: 1e3,
  KiB: 2 ** 10,
  MB: 1e6,
  MiB: 2 ** 20,
  GB: 1e9,
  GiB: 2 ** 30,
}

/** Bytes of `0`, `512KiB`, `64MiB` or `1GiB`. */
export function bytes(mostGiB: number): Parser<number> {
  return withRange(`at most ${mostGiB}GiB`, (texts) => {
    const match = /^([0-9]{1,12})([KMG]i?B|B|)$/.exec(last(texts))
    const value = match === null ? NaN : Number(match[1]) * BYTES_OF_UNIT[match[2]]
    if (!(value <= mostGiB * BYTES_OF_UNIT.GiB))
      throw new Error(`a size in B, KB, KiB, MB, MiB, GB or GiB such as 0 or 64MiB, at most ${mostGiB}GiB`)
    return value
  })
}
