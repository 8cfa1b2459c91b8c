/** Assembles the `.wat` files of `src/` into the modules beside them: `npm run wasm`. */
import { writeFileSync } from 'node:fs'
import { codeFile, codeText, SOURCES } from './assemble.ts'

for (const source of SOURCES) writeFileSync(codeFile(source), await codeText(source))
