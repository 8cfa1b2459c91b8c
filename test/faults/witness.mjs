// Imported by every Node of a start: writes down, in the folder WITNESS, what the server itself does about
// signals. npm's own exit code does not say it, and from outside no handler can be seen, for every Node has
// some.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const [, program = '', command = ''] = process.argv
const isServer = program.endsWith('cli.js') && ['serve', 'run'].includes(command)
if (isMainThread && isServer) {
  const write = (name, text) => writeFileSync(join(process.env.WITNESS, name), text)
  process.on('newListener', (name) => {
    // Once the handlers of all signals are there, which are added in one go.
    if (name === 'SIGTERM') queueMicrotask(() => write('catches-signals', ''))
  })
  process.on('exit', (code) => write('own-end', String(code)))
}
