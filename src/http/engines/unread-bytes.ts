/** What the kernel holds of a connection for a client that has not taken it (Linux, `man 5 proc`). */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Many connections are looked at in one turn: they share a reading. */
const SAME_LOOK_MS = 100
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
const HEX_DIGITS = 8

let read = { at: -Infinity, text: '' }

function tables(): string {
  const at = performance.now()
  if (at - read.at > SAME_LOOK_MS) read = { at, text: TABLES.map(textOf).join('') }
  return read.text
}

/** '' where the system has no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Bytes that were sent and not acknowledged, or null if it is unknown. */
export function unreadBytes({ localAddress, localPort, remoteAddress, remotePort }: Socket): number | null {
  if (localAddress === undefined || remoteAddress === undefined) return null
  const row = ` ${placeOf(localAddress, localPort!)} ${placeOf(remoteAddress, remotePort!)} `
  const text = tables()
  const at = text.indexOf(row)
  if (at === -1) return null
  // The state comes first, two digits.
  const queue = at + row.length + 3
  return Number.parseInt(text.slice(queue, queue + HEX_DIGITS), 16)
}

/** Words of four bytes in the order of the processor, which is little-endian, then the port. */
function placeOf(address: string, port: number): string {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
  return `${bytes.swap32().toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
