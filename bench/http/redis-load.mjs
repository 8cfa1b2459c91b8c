/**
 * Asks Redis the commands of a file (JSON lines of words) in turn over 64 connections, each one at a time,
 * and prints how many it took.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const [port, file, seconds] = process.argv.slice(2)
const commands = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const words = JSON.parse(line)
    return Buffer.from(
      `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
    )
  })
let next = 0
let answered = 0
const began = performance.now()
const sockets = Array.from({ length: 64 }, () => {
  const socket = connect(Number(port), '127.0.0.1')
  socket.setNoDelay(true)
  const ask = () => socket.write(commands[next++ % commands.length])
  socket.on('connect', ask)
  // Answers of some hundred bytes come whole; one at a time is under way.
  socket.on('data', () => {
    answered++
    ask()
  })
  return socket
})
setTimeout(
  () => {
    console.log(JSON.stringify({ requests: answered, micros: (performance.now() - began) * 1000 }))
    for (const socket of sockets) socket.destroy()
  },
  Number(seconds) * 1000,
)
