/**
 * Property tests draw the same cases in every run, so that a change of ours is what makes one fail.
 * `GROUNDSWELL_SEED=random` looks for new cases, `GROUNDSWELL_SEED=123` repeats those of a run that failed.
 * Plain JavaScript, since worker threads import it too.
 */
import fc from 'fast-check'

if (process.env.GROUNDSWELL_SEED === 'random') {
  process.env.GROUNDSWELL_SEED = String(Math.floor(Math.random() * 2 ** 31))
}
fc.configureGlobal({ seed: Number(process.env.GROUNDSWELL_SEED ?? 20_261_121) })
