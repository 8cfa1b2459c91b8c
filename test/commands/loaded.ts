/** The commands, all loaded, for tests that look at their options. */
import type { Command } from '../../src/commands/command.ts'
import { COMMANDS } from '../../src/commands/dispatch.ts'

export const LOADED: { readonly [name: string]: Command } = Object.fromEntries(
  await Promise.all(
    Object.entries(COMMANDS).map(
      async ([name, [module]]) => [name, (await module()).COMMANDS[name]] as const,
    ),
  ),
)

/** What `act` returns with these variables in the environment. */
export function withVariables<T>(variables: { readonly [name: string]: string }, act: () => T): T {
  Object.assign(process.env, variables)
  try {
    return act()
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}
