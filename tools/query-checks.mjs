// Puts finished checks of queries into the compiled code, so that no worker loads ajv, which makes them.
// Plain JavaScript, because it runs when the program is compiled. Sources that are not compiled, as in tests,
// have ajv compile the same schemas at run time.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'

const CHECKS = join('operation', 'query-check.js')

/** @param {string} folder the compiled code */
export async function writeChecks(folder) {
  const load = (file) => import(pathToFileURL(join(folder, file)).href)
  const [{ ROUTED }, { schemaOf }, { OPTIONS }] = await Promise.all([
    load('routes.js'),
    load(join('operation', 'query.js')),
    load(CHECKS),
  ])
  const ajv = new Ajv2020({ ...OPTIONS, code: { source: true, esm: true } })
  const texts = [...new Set(ROUTED.map(({ parameters }) => JSON.stringify(schemaOf(parameters))))]
  const names = texts.map((_text, i) => `check${i}`)
  for (const [i, text] of texts.entries()) ajv.addSchema(JSON.parse(text), names[i])
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])))
  const entries = texts.map((text, i) => `  [${JSON.stringify(text)}, ${names[i]}],\n`)
  writeFileSync(join(folder, CHECKS), `${BEFORE}${code}\n${after(entries)}`)
}

/** What ajv writes takes its few functions by `require`, also where it writes a module. */
const BEFORE = `// Made by ajv from the schemas of the operations.
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
`

const after = (entries) => `
const CHECKS = new Map([
${entries.join('')}])
export function checkOf(schema) {
  const check = CHECKS.get(JSON.stringify(schema))
  if (check === undefined) throw new Error('The build has made no check for this schema: it is not one of an operation.')
  return check
}
`
