// Compiles all TypeScript that tests import, once for a run, into the folder from which `hooks.mjs` takes it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { transform } from 'esbuild'

/** Folders with TypeScript that tests import. */
const COMPILED = ['bench', 'clients', 'docs', 'src', 'test', 'tools', 'web']

/** What a file becomes by itself: JavaScript that knows its lines for stacks. */
export async function compiled(file) {
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
  return code
}

/** Writes `x.ts.js` for each `x.ts`. */
export async function compileInto(folder) {
  const files = COMPILED.flatMap((name) =>
    readdirSync(name, { recursive: true }).map((file) => join(name, file)),
  )
  const compile = async (file) => {
    const code = await compiled(file)
    const target = join(folder, `${file}.js`)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, code)
  }
  const isOurs = (file) => /\.tsx?$/.test(file) && !file.includes('node_modules')
  await Promise.all(files.filter(isOurs).map(compile))
}
