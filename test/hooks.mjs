// Hooks of Node's module loader, which give what `compile.mjs` has made of a TypeScript file. The file keeps
// its address, by which it finds its neighbours. Node starts each test file anew, which takes twice as long
// with tsx.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('..', import.meta.url).href

async function sourceOf(url) {
  if (url.startsWith(ROOT))
    return readFileSync(join(process.env.GROUNDSWELL_COMPILED, `${decodeURI(url.slice(ROOT.length))}.js`))
  // A test has written it.
  const { compiled } = await import('./compile.mjs')
  return compiled(fileURLToPath(url))
}

export async function load(url, context, next) {
  if (!/\.tsx?$/.test(url)) return next(url, context)
  return { format: 'module', shortCircuit: true, source: await sourceOf(url) }
}
