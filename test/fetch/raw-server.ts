/** A server on loopback that writes what a test says, byte by byte, to its sockets. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'

/** Answers a request for a path. */
export type Answer = (socket: Socket, path: string) => void

export interface RawServer {
  url: string
  /** Paths of the requests, in order. */
  asked: string[]
  answer: Answer
  close(): Promise<void>
}

export async function startRaw(t: TestContext, answer: Answer): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const path = text.split(' ', 2)[1]
        text = text.slice(end + 4)
        raw.asked.push(path)
        raw.answer(socket, path)
      }
    })
  })
  const raw: RawServer = {
    url: '',
    asked: [],
    answer,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  raw.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => raw.close())
  return raw
}

const head = (...lines: string[]): string => [...lines, '', ''].join('\r\n')

/** Ways to send a whole body that HTTP allows, each of which ends its connection. */
export const CLOSING = {
  'Connection: close': (socket, body) => {
    socket.write(head('HTTP/1.1 200 OK', 'Connection: close', `Content-Length: ${body.length}`))
    socket.end(body)
  },
  'HTTP/1.0 with a length': (socket, body) => {
    socket.write(head('HTTP/1.0 200 OK', `Content-Length: ${body.length}`))
    socket.end(body)
  },
  'HTTP/1.0 without a length': (socket, body) => {
    socket.write(head('HTTP/1.0 200 OK'))
    socket.end(body)
  },
  'chunks and Connection: close': (socket, body) => {
    socket.write(head('HTTP/1.1 200 OK', 'Connection: close', 'Transfer-Encoding: chunked'))
    for (let at = 0; at < body.length; at += 100_000) {
      const piece = body.subarray(at, at + 100_000)
      socket.write(`${piece.length.toString(16)}\r\n`)
      socket.write(piece)
      socket.write('\r\n')
    }
    socket.end('0\r\n\r\n')
  },
  'a length, and an end without a word of it': (socket, body) => {
    socket.write(head('HTTP/1.1 200 OK', `Content-Length: ${body.length}`))
    socket.end(body)
  },
} satisfies { [name: string]: (socket: Socket, body: Buffer) => void }

const often = (socket: Socket, ms: number, write: () => void): void => {
  const timer = setInterval(write, ms)
  socket.once('close', () => clearInterval(timer))
}

const MEGABYTE = gzipSync(Buffer.alloc(2 ** 20, 49))

/** Ways to misbehave in place of an answer. */
export const MISBEHAVIOURS: { [name: string]: (socket: Socket, body: Buffer) => void } = {
  'closes without a word': (socket) => socket.destroy(),
  'says nothing': () => {},
  'speaks another protocol': (socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  'sends headers without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    often(socket, 5, () => socket.write(`X-Many: ${'x'.repeat(4000)}\r\n`))
  },
  'sends chunks without end': (socket) => {
    socket.write(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked'))
    often(socket, 10, () => socket.write(`186a0\r\n${'1,2,3,4\n'.repeat(12_500)}\r\n`))
  },
  trickles: (socket) => {
    socket.write(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked'))
    often(socket, 50, () => socket.write('1\r\nx\r\n'))
  },
  'cuts a body in its middle': (socket, body) => {
    socket.write(head('HTTP/1.0 200 OK', `Content-Length: ${body.length}`))
    socket.end(body.subarray(0, body.length >> 1))
  },
  'breaks a chunk': (socket, body) => {
    socket.write(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked'))
    socket.end(`ffff\r\n${body.toString('latin1')}\r\nzz\r\n`)
  },
  'sends a page for a file': (socket) =>
    void socket.end(`${head('HTTP/1.1 200 OK', 'Connection: close')}<!DOCTYPE html><title>Error`),
  'answers 500 and closes': (socket) => void socket.end(head('HTTP/1.0 500 Broken', 'Content-Length: 0')),
  'leads to an address that is not public': (socket) =>
    void socket.end(
      head('HTTP/1.1 302 Found', 'Location: http://169.254.169.254/latest', 'Content-Length: 0'),
    ),
  'expands to a gigabyte': (socket) => {
    socket.write(head('HTTP/1.1 200 OK', 'Content-Encoding: gzip', 'Connection: close'))
    socket.end(Buffer.concat(Array.from({ length: 1000 }, () => MEGABYTE)))
  },
}
