/** What a setting is. The command line, the environment and `--help` read tables of them. */
import { isOn, textOrNull, type Parser } from './values.ts'

export interface Setting<T> {
  readonly placeholder: string
  readonly help: string
  /** Text of the default. Without one the setting may be left out. */
  readonly default?: string
  /** The default is this name in the data folder. */
  readonly under?: string
  readonly required?: boolean
  /** A switch takes no value. */
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

/** A switch, which takes no value. */
export function flag(help: string): Setting<boolean> {
  return { placeholder: '', help, flag: true, parse: isOn }
}

/** A text that may be left out, which is null. */
export function optional(placeholder: string, help: string): Setting<string | null> {
  return { placeholder, help, default: '', parse: textOrNull }
}
