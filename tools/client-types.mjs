// Makes the types of the TypeScript client from `clients/openapi.json`, unless they are newer. Importing this
// file is enough.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import './test-packages.mjs'
import { isNewerThan } from './newer.mjs'

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const DESCRIPTION = 'clients/openapi.json'
const TYPES = at('clients/typescript/api.d.ts')

if (!isNewerThan(TYPES, [DESCRIPTION, 'test/package-lock.json', 'tools/client-types.mjs'])) {
  const command = at('test/node_modules/openapi-typescript/bin/cli.js')
  const options = ['--root-types', '--root-types-no-schema-prefix']
  const types = execFileSync(process.execPath, [command, at(DESCRIPTION), ...options], { maxBuffer: 2 ** 26 })
  writeFileSync(TYPES, types)
}
