// Compiles all TypeScript that tests import, once for a run, into the folder from which `hooks.mjs` takes it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { transform } from 'esbuild'

/** Tests import from these, each file by the address of its source. */
const COMPILED = ['bench', 'docs', 'src', 'test', 'tools', 'web']

/** Each file is compiled by itself, to `x.ts.js` for `x.ts`, with its lines for stacks. */
export async function compileInto(folder) {
  const files = COMPILED.flatMap((name) =>
    readdirSync(name, { recursive: true }).map((file) => join(name, file)),
  )
  const compile = async (file) => {
    const { code } = await transform(readFileSync(file), {
      loader: file.endsWith('x') ? 'tsx' : 'ts',
      target: 'es2023',
      supported: { 'import-attributes': true },
      jsx: 'automatic',
      jsxImportSource: 'preact',
      sourcefile: basename(file),
      sourcemap: 'inline',
      sourcesContent: false,
    })
    const target = join(folder, `${file}.js`)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, code)
  }
  await Promise.all(files.filter((file) => /\.tsx?$/.test(file)).map(compile))
}
