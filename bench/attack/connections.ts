/** Connections that are slow, idle, or come and go. */
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { amount, type Attack, type Finding, type Target } from './attack.ts'
import { Crowd } from './crowd.ts'

/** Longer than the engines keep an idle connection. */
const HOLD_MS = 20_000
const LEAST_HOLD_MS = 1500
/** Between two bytes of a slow client. */
const TRICKLE_MS = 500

const holdMs = (scale: number): number => Math.max(LEAST_HOLD_MS, HOLD_MS * scale)

interface Gathering {
  connections: number
  /** What each sends when it is open. */
  first?: string
  /** What each sends bit by bit afterwards. */
  trickle?: string
}

/** Connections that are opened anew as the server ends them. */
async function gather({ port }: Target, gathering: Gathering, scale: number): Promise<Finding> {
  const { first = '', trickle = '' } = gathering
  const count = amount(gathering.connections, scale)
  const crowd = new Crowd(port)
  const open = new Map<Socket, number>()
  const visit = {
    reads: true,
    onOpen: (socket: Socket) => {
      open.set(socket, 0)
      if (first !== '') socket.write(first)
    },
    onClose: (socket: Socket) => void open.delete(socket),
  }
  const end = performance.now() + holdMs(scale)
  await crowd.enter(count, visit)
  let most = crowd.open
  while (performance.now() < end) {
    await wait(TRICKLE_MS)
    if (trickle !== '') {
      for (const [socket, sent] of open) {
        socket.write(trickle[sent % trickle.length])
        open.set(socket, sent + 1)
      }
    }
    if (crowd.open < count) await crowd.enter(count - crowd.open, visit)
    most = Math.max(most, crowd.open)
  }
  const { closed, refused } = crowd
  crowd.dismiss()
  const more = refused > 0 ? `, ${refused} refused` : ''
  return {
    did: `${most.toLocaleString('en')} open at a time, ${closed} ended by the server${more}`,
    faults: [],
  }
}

/** Connections opened and dropped as fast as it goes. */
async function comeAndGo({ port }: Target, rounds: number, each: number, sent: string): Promise<Finding> {
  let [opened, refused] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    const crowd = new Crowd(port)
    await crowd.enter(each, {
      reads: true,
      onOpen: (socket) => {
        if (sent !== '') socket.write(sent)
      },
    })
    opened += crowd.opened
    refused += crowd.refused
    crowd.dismiss()
  }
  return {
    did: `${opened.toLocaleString('en')} connections opened and reset${refused > 0 ? `, ${refused} refused` : ''}`,
    faults: [],
  }
}

const POST_BEGUN = 'POST /v2/countries HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n'
const GET_SEARCH = 'GET /v2/buoys/search?query=bu HTTP/1.1\r\nHost: a\r\n\r\n'

export const CONNECTIONS: readonly Attack[] = [
  {
    name: 'idle-9500',
    about: '9,500 connections that say nothing, opened anew as they are ended',
    run: (target, scale) => gather(target, { connections: 9500 }, scale),
  },
  {
    name: 'idle-answered',
    about: '5,000 connections that are idle after an answer',
    run: (target, scale) => gather(target, { connections: 5000, first: GET_SEARCH }, scale),
  },
  {
    name: 'slow-heads',
    about: '2,000 connections that send a head byte by byte, two a second',
    run: (target, scale) =>
      gather(target, { connections: 2000, first: 'GET / HTTP/1.1\r\n', trickle: 'X-Slow: 1\r\n' }, scale),
  },
  {
    name: 'slow-bodies',
    about: '2,000 connections that send a body of 1 MB byte by byte',
    run: (target, scale) => gather(target, { connections: 2000, first: POST_BEGUN, trickle: 'x' }, scale),
  },
  {
    name: 'come-and-go',
    about: '20,000 connections opened and reset, half of them after a request',
    run: async (target, scale) => {
      const silent = await comeAndGo(target, amount(20, scale), amount(500, Math.max(scale, 0.2)), '')
      const asking = await comeAndGo(target, amount(20, scale), amount(500, Math.max(scale, 0.2)), GET_SEARCH)
      return { did: `${silent.did}; after a request ${asking.did}`, faults: [] }
    },
  },
]
