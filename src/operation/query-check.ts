/**
 * Checks of an operation's typed values, compiled from their schema by ajv. From the sources they are
 * compiled when they are asked for. In the compiled program a file of finished checks by `tools/query-checks.mjs`
 * takes the place of this one, so that workers load neither ajv nor what it keeps of each schema, 3.7 MiB a
 * worker.
 */
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js'

/**
 * The schemas are the program's own, and a test validates them. Compiling the meta-schema here would take
 * longer than compiling all of them.
 */
export const OPTIONS: Options = {
  allErrors: false,
  strict: true,
  strictTypes: false,
  meta: false,
  validateSchema: false,
}

const ajv = new Ajv2020(OPTIONS)

/** The check of a schema. Compiling one takes some 20 ms, so it is asked for once a thread. */
export function checkOf(schema: object): ValidateFunction {
  return ajv.compile(schema)
}
