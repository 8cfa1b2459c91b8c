// Builds the program: `npm run build`. It checks the version of Node, and only then loads the rest: Node 12
// can read this file, so that users of an old Node get a sentence and not a stack.
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [major, minor] = engines.node.match(/\d+/g).map(Number)
const running = process.versions.node.split('.').map(Number)
if (running[0] > major || (running[0] === major && running[1] >= minor)) {
  void import('./build-program.mjs').then(({ main }) => main(process.argv.slice(2)))
} else {
  process.stderr.write(
    `groundswell: Node ${major}.${minor} or newer is needed, this is ${process.versions.node}\n`,
  )
  process.exitCode = 1
}
