/** The commands, all loaded, for tests that look at their options. */
import type { Command, Service } from '../../src/commands/command.ts'
import { COMMANDS } from '../../src/commands/table.ts'

export const LOADED: { readonly [name: string]: Command | Service } = Object.fromEntries(
  await Promise.all(Object.entries(COMMANDS).map(async ([name, { load }]) => [name, await load()] as const)),
)
