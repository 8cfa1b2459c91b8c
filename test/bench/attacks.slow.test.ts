/** Attacks upon the engine that servers use where it can be loaded. */
import { testAttacks } from './attacks.ts'

testAttacks('uws')
