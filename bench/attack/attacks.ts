/** All attacks upon a server that serves, in the order in which they are run. */
import type { Attack } from './attack.ts'
import { CONNECTIONS, DEAR, PIPELINES } from './crowds.ts'
import { FOLDERS } from './folders.ts'
import { FRAMING } from './framing.ts'
import { GRAMMAR } from './grammar.ts'
import { KEYS } from './keys.ts'
import { NETWORK } from './network.ts'
import { SOURCES } from './sources.ts'

export const ATTACKS: readonly Attack[] = [
  ...PIPELINES,
  ...CONNECTIONS,
  ...DEAR,
  ...FRAMING,
  ...KEYS,
  ...FOLDERS,
  ...SOURCES,
  ...NETWORK,
  ...GRAMMAR,
]

/** @throws Error naming what there is */
export function attackNamed(name: string): Attack {
  const attack = ATTACKS.find((one) => one.name === name)
  if (attack === undefined)
    throw new Error(`no attack ${name}; there are ${ATTACKS.map((one) => one.name).join(', ')}`)
  return attack
}
