/** `mcp`: a server of the Model Context Protocol on standard input and output, for assistants. */
import { once } from 'node:events'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { apiAt, plainText } from '../mcp/call.ts'
import { ToolServers } from '../mcp/server.ts'
import { last, orNull, setting } from '../server/setting.ts'
import { command } from './command.ts'
import { clock, note, programVersion } from './surroundings.ts'

/** Bytes of the longest message of a client. */
const MESSAGE_BYTES = 2 ** 20

const mcp = command({
  settings: {
    url: setting('URL', 'address of the API', 'http://127.0.0.1:8080/v2', apiAddress),
    key: setting('KEY', 'key of the API; in its variable other users cannot see it', '', orNull(apiKey)),
  },
  serve: async ({ url, key }, stops) => {
    const transport = new StdioServerTransport(process.stdin, process.stdout, {
      maxBufferSize: MESSAGE_BYTES,
    })
    const onerror = ({ message }: Error): void =>
      note(`the assistant's connection: ${plainText(message)}`, 'warning')
    const ended = once(process.stdin, 'close')
    const onFault = (text: string): void => note(text, 'error')
    const servers = new ToolServers({ version: programVersion(), clock, onFault })
    const connection = serveStdio(() => servers.open(apiAt(url, key)), { transport, onerror })
    note(`tools for assistants, from ${url}${key === null ? '; without a key only find_buoys answers' : ''}`)
    await Promise.race([ended, stops.asked])
    await connection.close()
  },
})
export const COMMANDS = { mcp }

/** The address of the operations, without a slash at its end. */
function apiAddress(texts: readonly string[]): string {
  const url = URL.canParse(last(texts)) ? new URL(last(texts)) : null
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.search}` !== '')
    throw new Error('an address such as http://127.0.0.1:8080/v2, without a key or a password')
  return url.origin + (url.pathname === '/' ? '/v2' : url.pathname.replace(/\/+$/, ''))
}

function apiKey(texts: readonly string[]): string {
  if (!/^[\x21-\x7e]{1,200}$/.test(last(texts))) throw new Error('a key of visible characters')
  return last(texts)
}
