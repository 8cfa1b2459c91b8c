/** Writes `src/answers/day-writer-code.ts` anew from `day-writer.wat`: `npm run wasm`. */
import { writeFileSync } from 'node:fs'
import { CODE_FILE, codeText } from './assemble.ts'

writeFileSync(CODE_FILE, await codeText())
