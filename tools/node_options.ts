/** How Node is started where we ship it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Options of Node in front of the program, as the unit of systemd that is shipped has them. Tests serve with
 * them, and the bench measures product and ceiling with them. @throws Error where the unit does not say
 */
export function shippedNodeOptions(): string[] {
  const unit = fileURLToPath(new URL('../deploy/systemd/groundswell.service', import.meta.url))
  const found = /^ExecStart=\/usr\/bin\/node ((?:--\S+ )*)\/\S+\/cli\.js /m.exec(readFileSync(unit, 'utf8'))
  if (found === null) throw new Error(`${unit} does not say how Node is started`)
  return found[1].split(' ').filter((option) => option !== '')
}
