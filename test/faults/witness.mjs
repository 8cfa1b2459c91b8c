// Imported by every Node of a start: writes down, in the folder WITNESS, that the server catches signals from
// now on. From outside its handlers cannot be seen, for every Node has some.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const [, program = '', command = ''] = process.argv
const isServer = program.endsWith('cli.js') && ['serve', 'run'].includes(command)
if (isMainThread && isServer) {
  process.on('newListener', (name) => {
    // Once the handlers of all signals are there, which are added in one go.
    if (name === 'SIGTERM')
      queueMicrotask(() => writeFileSync(join(process.env.WITNESS, 'catches-signals'), ''))
  })
}
