// Clients of `/events`: opens so many streams, and says of each event how long after it was published each
// client had it. A process of its own, started by events.bench.ts.
import { connect } from 'node:net'

const [port, count, target, key] = process.argv.slice(2)
const OPEN_AT_A_TIME = 200
const MARK = Buffer.from('event: snapshot')

const sockets = []
let open = 0
let lost = 0
/** Of the event that is waited for: when it was published, and the milliseconds until each client had it. */
let publishedAt = 0
let delays = []

const now = () => performance.timeOrigin + performance.now()

function listen() {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n\r\n`),
    )
    let isOpen = false
    socket.on('data', (data) => {
      if (!data.includes(MARK)) return
      if (isOpen) delays.push(now() - publishedAt)
      else {
        isOpen = true
        open++
        resolve()
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      lost++
      resolve()
    })
    sockets.push(socket)
  })
}

for (let begun = 0; begun < Number(count); begun += OPEN_AT_A_TIME) {
  const many = Math.min(OPEN_AT_A_TIME, Number(count) - begun)
  await Promise.all(Array.from({ length: many }, () => listen()))
}
process.send({ open, lost })

process.on('message', (message) => {
  if (message.publish !== undefined) {
    publishedAt = message.publish
    delays = []
  } else if (message.report) {
    delays.sort((a, b) => a - b)
    process.send({
      heard: delays.length,
      lost,
      first: delays[0],
      median: delays[delays.length >> 1],
      last: delays.at(-1),
    })
  } else process.exit(0)
})
process.on('disconnect', () => process.exit(0))
