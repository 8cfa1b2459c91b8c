/** Connections that wait to be accepted: none is dropped while a thread is busy for a moment. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ENGINES, missing, pathServer } from './server_for_tests.ts'

/** uWebSockets.js asks the system for a queue of 512. */
const CLIENTS = { uws: 500, node: 900 }
/** Less than a second: one that was dropped tries again then. */
const WAIT_MS = 800

/** Opens them all, and says how many the system has let in. */
const crowd = (clients: number): string => `
const { connect } = require('node:net')
let open = 0
for (let i = 0; i < ${clients}; i++) {
  const socket = connect(Number(process.argv[1]), '127.0.0.1', () => open++)
  socket.on('error', () => {})
}
let looks = 0
const tell = () => {
  if (open < ${clients} && ++looks < 2) return setTimeout(tell, ${WAIT_MS})
  process.stdout.write(String(open), () => process.exit(0))
}
setTimeout(tell, ${WAIT_MS})
`

function longestQueue(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'latin1'))
  } catch {
    return 0
  }
}

for (const kind of ENGINES) {
  const clients = CLIENTS[kind]
  test(
    `A thread of ${kind} that is busy for a moment lets ${clients} connections wait.`,
    { skip: longestQueue() < 2 * clients ? 'the queues of this system are short' : missing(kind) },
    async (t) => {
      const { port } = await pathServer(kind).until(t)
      // Nothing is accepted meanwhile.
      const { stdout, stderr } = spawnSync(process.execPath, ['-e', crowd(clients), String(port)], {
        encoding: 'utf8',
      })
      assert.equal(stdout, String(clients), stderr)
    },
  )
}
