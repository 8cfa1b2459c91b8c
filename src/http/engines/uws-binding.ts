/** Loads the native uWebSockets.js and declares the calls we use: its packages carry no types. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { HEADER_LIMIT_BYTES } from '../exchange.ts'

/** Methods throw once the answer is complete or the connection gone. They need their native `this`. */
export interface UwsResponse {
  /** The status line goes out as it is, so headers may be joined to it by CRLF. */
  writeStatus(statusLine: string | Uint8Array): unknown
  /** Sends what the kernel takes; unless `done`, the rest must be offered again from onWritable. */
  tryEnd(rest: Uint8Array, totalBytes: number): [ok: boolean, done: boolean]
  /** Keeps a copy of what the kernel does not take. `close` writes a header, after `write` into the body. */
  end(body?: Uint8Array, close?: boolean): unknown
  /** A chunk of a body of unknown length. False if the kernel did not take all and a copy is kept. */
  write(chunk: Uint8Array): boolean
  /** Gathers what `handler` writes; within handlers of requests the engine does, up to 16 KB at a time. */
  cork(handler: () => void): unknown
  /** Call it without arguments: given a length, 20.51 aborts the process. */
  endWithoutBody(): unknown
  /** Bytes of the body sent so far. */
  getWriteOffset(): number
  onWritable(handler: (offset: number) => boolean): unknown
  onAborted(handler: () => void): unknown
  /** The body piece by piece; the buffer is gone when `handler` returns. */
  onData(handler: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  /** IPv4 dotted; IPv6 in full, eight groups of four digits. */
  getRemoteAddressAsText(): ArrayBuffer
  /** Reads nothing further of the connection. */
  pause(): unknown
  /** Reads on, gives a silent connection ten seconds more, and waits for room only after a further write. */
  resume(): unknown
  close(): unknown
}

/** A request is dead after its handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string
  getUrl(): string
  getQuery(): string | undefined
  forEach(visit: (lowerCaseName: string, value: string) => void): void
}

type UwsHandler = (response: UwsResponse, request: UwsRequest) => void

export interface UwsApp {
  get(pattern: string, handler: UwsHandler): UwsApp
  any(pattern: string, handler: UwsHandler): UwsApp
  /** Told of each connection that opens (1) and closes (-1), each time with another object for it. */
  filter(handler: (connection: UwsResponse, change: 1 | -1) => void): UwsApp
  /** Calls back before it returns; `false` is every kind of failure. */
  listen(host: string, port: number, done: (token: object | false) => void): UwsApp
  close(): UwsApp
}

export interface UwsBinding {
  App(): UwsApp
  /** `silent` removes the header that names the engine. */
  _cfg(option: 'silent'): void
  us_socket_local_port(token: object): number
  us_listen_socket_close(token: object): void
}

/** SHA-256 of the tested binaries by package, in the versions of package.json. */
const TESTED_BINARIES: { readonly [name: string]: string } = {
  '@uwsjs/linux-x64-20': '4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89',
  '@uwsjs/linux-x64-22': 'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
  '@uwsjs/linux-x64-24': '177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0',
  '@uwsjs/linux-x64-26': '604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795',
}

/**
 * The official `uWebSockets.js` if installed, else the repackaged binary if it is the tested one. Never
 * throws. Must run in the main thread before any worker starts: the binary reads its header limit from the
 * process environment when first loaded, and a worker's `process.env` is only a copy.
 */
export function loadBinding(): { binding: UwsBinding | null; reason: string } {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_LIMIT_BYTES)
  const require = createRequire(import.meta.url)
  const nodeMajor = process.versions.node.split('.', 1)[0]
  const repackaged = `@uwsjs/${process.platform}-${process.arch}-${nodeMajor}`
  const loads = [
    () => require('uWebSockets.js') as UwsBinding,
    () => require(testedBinary(require.resolve(repackaged), repackaged)) as UwsBinding,
  ]
  const reasons: string[] = []
  for (const load of loads) {
    try {
      return { binding: load(), reason: '' }
    } catch (error) {
      // The first line names the cause; the rest is a stack of requiring files.
      reasons.push((error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '')
    }
  }
  return { binding: null, reason: reasons.join('; ') }
}

/** The binary of a package, past the script that would load it untested. @throws Error if it is another */
function testedBinary(entry: string, name: string): string {
  const path = join(dirname(entry), 'uws.node')
  // The main thread has tested its 7 MB, and a process loads a binary once.
  if (!isMainThread) return path
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex')
  if (hash !== TESTED_BINARIES[name]) throw new Error(`${path} is not the binary that was tested`)
  return path
}
