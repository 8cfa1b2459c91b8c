// Ordinary requests at a steady rate, and how long each took from when it was due. A process of its own,
// started by events.bench.ts.
import { Agent, request } from 'node:http'

const [port, rate, target, key] = process.argv.slice(2)
const CONNECTIONS = 16
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
const PER_MS = Number(rate) / 1000

let times = []
let failed = 0
let due = performance.now()

function ask(dueAt) {
  const call = request(
    {
      agent,
      port: Number(port),
      host: '127.0.0.1',
      path: target,
      headers: { authorization: `Bearer ${key}` },
    },
    (answer) => {
      answer.resume()
      answer.once('end', () => {
        if (answer.statusCode === 200) times.push(performance.now() - dueAt)
        else failed++
      })
    },
  )
  call.once('error', () => failed++)
  call.end()
}

setInterval(() => {
  const now = performance.now()
  for (; due <= now; due += 1 / PER_MS) ask(due)
}, 1)

process.on('message', () => {
  times.sort((a, b) => a - b)
  const at = (share) => times[Math.floor(times.length * share)]
  process.send({
    requests: times.length,
    failed,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    max: times.at(-1),
  })
  times = []
  failed = 0
})
process.on('disconnect', () => process.exit(0))
