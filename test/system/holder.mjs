// Takes a lock, says so, and obeys its input, a word a line: `block` keeps the event loop busy, `put`
// renames a file from the lock's folder to PATH.put, `release` gives the lock back. Arguments: the compiled
// lock.js, PATH, its options as JSON, milliseconds of `block`.
import { renameSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [module, path, options, blockMs] = process.argv.slice(2)
const { lock } = await import(module)
const say = (line) => process.stdout.write(`${line}\n`)

let held
const doing = {
  block() {
    for (const until = performance.now() + Number(blockMs); performance.now() < until;);
    return 'blocked'
  },
  put() {
    writeFileSync(`${held.folder}/new`, 'mine')
    renameSync(`${held.folder}/new`, `${path}.put`)
    return 'put'
  },
  release() {
    held.release()
    return 'released'
  },
}

say('waiting')
try {
  held = lock(path, JSON.parse(options))
  say('held')
} catch ({ name }) {
  say(name)
}
for await (const word of createInterface(process.stdin)) {
  try {
    say(doing[word]())
  } catch ({ code }) {
    say(code)
  }
}
