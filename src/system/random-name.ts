/** Names of temporary files, so that two processes never write to the same one. */
import { randomBytes } from 'node:crypto'

export function randomName(): string {
  return randomBytes(8).toString('hex')
}
