// The compiled command line with a debugger upon its serving threads: by it a test has one of them throw,
// hang, or report its memory, which nothing that a server listens to can do. Started with a channel to the
// test; plain JavaScript, for it runs as it is.
import { Session } from 'node:inspector/promises'
import { runCommand } from '../../dist/commands/dispatch.js'
import { catchSignals } from '../../dist/commands/signals.js'

const session = new Session()
session.connect()
/** Debugger sessions of the serving threads, oldest first. */
const threads = []
session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
  if (workerInfo.url.endsWith('/worker.js')) threads.push(sessionId)
})
session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
  const at = threads.indexOf(sessionId)
  if (at !== -1) threads.splice(at, 1)
})
session.on('NodeWorker.receivedMessageFromWorker', ({ params: { message } }) => {
  const { id, result } = JSON.parse(message)
  if (id !== undefined) process.send({ id, result })
})
process.on('message', ({ id, thread, method, params }) => {
  const message = JSON.stringify({ id, method, params })
  void session.post('NodeWorker.sendMessageToWorker', { sessionId: threads[thread], message })
})
// The test's end of the channel does not keep a stopped server alive.
process.channel.unref()
await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
await runCommand(process.argv.slice(2), false, catchSignals())
