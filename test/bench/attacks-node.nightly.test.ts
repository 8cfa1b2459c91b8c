/**
 * Attacks upon the engine that takes the other's place. In the nightly tier: limits, deadlines, framing and
 * streams of both engines have tests of their own in test/http, and the rest is the same code.
 */
import { testAttacks } from './attacks.ts'

testAttacks('node')
