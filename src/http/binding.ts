/** Finds and loads the native uWebSockets.js. Its packages carry no types, so the calls we use are declared here. */

import { createRequire } from 'node:module'

import { HEADER_LIMIT_BYTES } from './exchange.ts'

/** Methods throw after the answer is complete or the connection is gone. They must be called as methods: `this` is native. */
export interface UwsResponse {
  /** Status line; everything in it goes out as it is, so headers may be joined to it by CRLF. */
  writeStatus(statusLine: string | Uint8Array): unknown
  /** Sends what the kernel takes. `done` says whether that was all; the rest must be offered again from onWritable. */
  tryEnd(rest: Uint8Array, totalBytes: number): [ok: boolean, done: boolean]
  /** Keeps a copy of what the kernel does not take. Writes the header `Connection: close` itself if `close`, after `write` into the body. */
  end(body?: Uint8Array, close?: boolean): unknown
  /** A chunk of a body of unknown length; keeps a copy of what the kernel does not take. False where it kept some. */
  write(chunk: Uint8Array): boolean
  /** Gathers what `handler` writes; every handler of a request is called so, nothing else is. */
  cork(handler: () => void): unknown
  /** Without arguments only: given a length, 20.51 aborts the process. */
  endWithoutBody(): unknown
  /** Bytes of the body sent so far. */
  getWriteOffset(): number
  onWritable(handler: (offset: number) => boolean): unknown
  onAborted(handler: () => void): unknown
  /** IPv4 dotted; IPv6 in full, eight groups of four digits. */
  getRemoteAddressAsText(): ArrayBuffer
  close(): unknown
}

/** Dead after the handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string
  getUrl(): string
  getQuery(): string | undefined
  getHeader(lowerCaseName: string | ArrayBuffer): string
  forEach(visit: (lowerCaseName: string, value: string) => void): void
}

export type UwsHandler = (response: UwsResponse, request: UwsRequest) => void

/** An opaque native pointer. */
export type UwsListenToken = object

export interface UwsApp {
  get(pattern: string, handler: UwsHandler): UwsApp
  head(pattern: string, handler: UwsHandler): UwsApp
  any(pattern: string, handler: UwsHandler): UwsApp
  /** Calls back before it returns; `false` is every kind of failure. */
  listen(host: string, port: number, done: (token: UwsListenToken | false) => void): UwsApp
  close(): UwsApp
}

export interface UwsBinding {
  App(): UwsApp
  /** `silent` removes the header that names the engine. */
  _cfg(option: 'silent'): void
  us_socket_local_port(token: UwsListenToken): number
  us_listen_socket_close(token: UwsListenToken): void
}

export type LoadedBinding =
  | { readonly binding: UwsBinding; readonly reason: null }
  | { readonly binding: null; readonly reason: string }

/**
 * Loads the official `uWebSockets.js` where it is installed, else the repackaged binary for this platform and Node
 * release. Never throws: `reason` says why nothing could be loaded.
 *
 * Must run in the main thread before any worker starts: the binary reads its header limit from the process environment
 * when it is first loaded, and a worker's `process.env` is only a copy of that.
 */
export function loadBinding(): LoadedBinding {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_LIMIT_BYTES)
  const require = createRequire(import.meta.url)
  const nodeMajor = process.versions.node.split('.', 1)[0]
  const names = ['uWebSockets.js', `@uwsjs/${process.platform}-${process.arch}-${nodeMajor}`]
  const reasons: string[] = []
  for (const name of names) {
    try {
      const loaded: unknown = require(name)
      if (isBinding(loaded)) return { binding: loaded, reason: null }
      reasons.push(`${name} lacks functions that this server calls`)
    } catch (error) {
      // The first line says it; the rest is a stack of requiring files.
      reasons.push((error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '')
    }
  }
  return { binding: null, reason: reasons.join('; ') }
}

function isBinding(loaded: unknown): loaded is UwsBinding {
  return (
    typeof loaded === 'object' &&
    loaded !== null &&
    ['App', '_cfg', 'us_socket_local_port', 'us_listen_socket_close'].every(
      (name) => typeof (loaded as { [name: string]: unknown })[name] === 'function',
    )
  )
}
