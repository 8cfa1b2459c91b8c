/** How Node is started where we ship it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Options of Node in front of the program, as `bin/groundswell` has them. Tests serve with them, and the
 * bench measures product and ceiling with them. @throws Error where the file does not say
 */
export function shippedNodeOptions(): string[] {
  const file = fileURLToPath(new URL('../bin/groundswell', import.meta.url))
  const found = /^exec node ((?:--\S+ )*)"/m.exec(readFileSync(file, 'utf8'))
  if (found === null) throw new Error(`${file} does not say how Node is started`)
  return found[1].split(' ').filter((option) => option !== '')
}
