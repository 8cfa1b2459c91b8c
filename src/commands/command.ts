/** What a command is: how it is described in `--help`, what it takes, and what it does. */
import type { Signals } from '../begin.mjs'
import type { ConfigOf, Settings } from '../process/settings/setting.ts'
import type { Stops } from './stops.ts'

interface Described {
  /** What follows the command's name in its usage. */
  readonly usage: string
  readonly settings: Settings
  /** How many arguments the command takes that are not options. */
  readonly positionals: number
  /** How many more it may take. */
  readonly optional: number
  /** Whether the first of them is a folder that has to exist. */
  readonly inFolder: boolean
  /** The option of a file that has to exist where the operator names it; the default file may be missing. */
  readonly existing: string | null
  /** More text for `--help`. */
  readonly more: string
}

/** A command that ends by itself. A signal ends it as it ends any other process. */
export interface Command extends Described {
  run(config: never, positionals: string[]): Promise<void>
}

/** A command that goes on until a signal stops it. */
export interface Service extends Described {
  serve(config: never, stops: Stops, signals: Signals): Promise<void>
}

type Definition<S extends Settings> = Pick<Described, 'usage'> & {
  readonly settings: S
  readonly existing?: keyof S & string
  readonly more?: string
}

export function command<const S extends Settings>(
  definition: Definition<S> & {
    readonly positionals?: number
    readonly optional?: number
    readonly inFolder?: boolean
    run(config: ConfigOf<S>, positionals: string[]): Promise<void>
  },
): Command {
  return { positionals: 0, optional: 0, inFolder: false, existing: null, more: '', ...definition }
}

export function service<const S extends Settings>(
  definition: Definition<S> & {
    serve(config: ConfigOf<S>, stops: Stops, signals: Signals): Promise<void>
  },
): Service {
  return { positionals: 0, optional: 0, inFolder: false, existing: null, more: '', ...definition }
}
