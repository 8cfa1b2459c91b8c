/**
 * The attacks of the bench, made small, upon one server of each engine: it lives, no thread of it is replaced, it holds no
 * more memory and connections than it may, and nobody else sees a failure. How slow the others are is the
 * bench's to measure: here the machine may be busy.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startAssailant, type Assailant } from '../../bench/attack/assailant.ts'
import { CONNECTIONS, PIPELINES } from '../../bench/attack/crowds.ts'
import { startBystander } from '../../bench/attack/bystander.ts'
import { ordinaryPaths, prepareCorpus, startPatient, type Corpus } from '../../bench/attack/patient.ts'
import { examine, SHORT } from '../../bench/attack/trial.ts'
import { ENGINES, missing } from '../http/server_for_tests.ts'

/** Attacks that are made together, and how much of each. */
const GROUPS: readonly [names: readonly string[], scale: number][] = [
  [PIPELINES.map(({ name }) => name), 0.03],
  [CONNECTIONS.map(({ name }) => name), 0.03],
  [['series-200', 'series-dropped', 'pages-dear'], 0.06],
  [['series-unread', 'framing', 'keys-guessed'], 0.05],
  [['keys-spoilt', 'folder-served'], 0.15],
  [['folder-started'], 0.15],
  [['grammar'], 0.01],
]

let corpus: Corpus
let assailant: Assailant
before(() => {
  corpus = prepareCorpus()
  assailant = startAssailant()
})
after(() => {
  assailant.stop()
  corpus.remove()
})

for (const engine of ENGINES) {
  test(
    `A server on ${engine} lives through every attack, and others see no failure.`,
    { skip: missing(engine) },
    async (t) => {
      const patient = await startPatient(corpus, engine)
      const bystander = await startBystander(
        patient.target.port,
        corpus.bystandersKey,
        ordinaryPaths(corpus.buoys),
      )
      t.after(async () => {
        bystander.stop()
        await patient.server.stop()
      })
      for (const [names, scale] of GROUPS) {
        const { did, faults, meanwhile, memory } = await examine(
          names,
          { patient, bystander, assailant },
          scale,
          SHORT,
        )
        t.diagnostic(
          `${did}; others: p99 ${meanwhile.p99.toFixed(0)} ms of ${meanwhile.asked}; ${Math.round(memory.peak - memory.before)} MB more`,
        )
        assert.deepEqual(faults, [], names.join(', '))
      }
    },
  )
}
