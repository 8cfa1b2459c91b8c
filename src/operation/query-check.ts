/**
 * Checks of an operation's typed values, compiled from their schema by ajv. In the compiled program the
 * finished checks of `tools/query-checks.mjs` take the place of this file: ajv costs 3.7 MiB a worker.
 */
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js'

/** A test validates the schemas; compiling the meta-schema takes longer than compiling all of them. */
export const OPTIONS: Options = {
  allErrors: false,
  strict: true,
  strictTypes: false,
  meta: false,
  validateSchema: false,
}

const ajv = new Ajv2020(OPTIONS)

/** Compiling takes some 20 ms, so a thread makes each check once. */
export function checkOf(schema: object): ValidateFunction {
  return ajv.compile(schema)
}
