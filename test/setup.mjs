/**
 * What holds in every process of a test. Property tests draw the same cases in every run, so that a change of
 * ours is what makes one fail: `GROUNDSWELL_SEED=random` looks for new cases, `GROUNDSWELL_SEED=123` repeats
 * those of a run that failed. Plain JavaScript, since worker threads import it too.
 */
import assert from 'node:assert/strict'
import { register } from 'node:module'
import fc from 'fast-check'

if (process.env.GROUNDSWELL_COMPILED !== undefined) {
  process.setSourceMapsEnabled(true)
  register('./hooks.mjs', import.meta.url)
  globalThis.groundswellReadsTypeScript = true
}

if (process.env.GROUNDSWELL_SEED === 'random') {
  process.env.GROUNDSWELL_SEED = String(Math.floor(Math.random() * 2 ** 31))
}
fc.configureGlobal({
  seed: Number(process.env.GROUNDSWELL_SEED ?? 20_261_121),
  // A list of at most 400 has up to 400 items, not ten.
  defaultSizeToMaxWhenMaxSpecified: true,
})

// A test asks no other machine for credentials of a bucket.
process.env.AWS_EC2_METADATA_DISABLED = 'true'
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

// Without a message, a failed `assert.ok` has Node look for its expression in the source. In what tsx makes
// of a test, which is one long line, Node 20 takes minutes for that.
const { ok } = assert
assert.ok = (value, message = 'what is asserted here is not so') => ok(value, message)
