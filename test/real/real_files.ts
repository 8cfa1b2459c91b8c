/** Where the real files of the networks lie, which are not part of the repository. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { testUnless } from '../programs.ts'

export const DATA = join(import.meta.dirname, '..', '..', '..', 'shared', 'data')

/** A test that is left out where the files are not there. */
export const test = testUnless(
  existsSync(DATA) ? false : 'needs real files of the networks, which are not part of the repository',
)
