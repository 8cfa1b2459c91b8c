/** The tests of the other tiers that do more in this one, random ones above all. */
process.env['GROUNDSWELL_NIGHTLY'] = '1'
for (const file of [
  './access/keys-model.test.ts',
  './access/keys-presented.test.ts',
  './api/conditions.test.ts',
  './api/oracle.test.ts',
  './api/satellites.test.ts',
  './api/expensive.slow.test.ts',
  './builder/publishing/faults.slow.test.ts',
  './deploy/fleet.slow.test.ts',
  './formats/oracle.test.ts',
  './formats/rules.test.ts',
  './histories/histories.slow.test.ts',
  './http/access-log-live.slow.test.ts',
  './api/wire.slow.test.ts',
  './snapshot/lies.slow.test.ts',
  './sources/damage.slow.test.ts',
  './sources/siege.slow.test.ts',
]) {
  await import(file)
}
