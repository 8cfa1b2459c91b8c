// A static file server on loopback, such as any that could stand between a builder and its replicas.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'

/** Serves the files directly in `folder`, with ETag, conditions and ranges. Resolves when it listens. */
export function serveFiles(folder, port) {
  const server = createServer((request, response) => void answer(folder, request, response))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

async function answer(folder, { method, url, headers }, response) {
  const name = basename(new URL(url, 'http://localhost').pathname)
  const path = join(folder, name)
  const found = await stat(path).catch(() => null)
  if (method !== 'GET' && method !== 'HEAD') response.writeHead(405, { Allow: 'GET, HEAD' }).end()
  else if (found === null || !found.isFile()) response.writeHead(404).end()
  else {
    const etag = `"${found.size}-${found.mtimeMs}"`
    const common = { ETag: etag, 'Accept-Ranges': 'bytes', 'Last-Modified': found.mtime.toUTCString() }
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '')
    const first = range === null ? 0 : Number(range[1])
    const last =
      range === null || range[2] === '' ? found.size - 1 : Math.min(Number(range[2]), found.size - 1)
    if (headers['if-none-match'] === etag) response.writeHead(304, common).end()
    else if (range !== null && first > last) {
      response.writeHead(416, { ...common, 'Content-Range': `bytes */${found.size}` }).end()
    } else {
      response.writeHead(range === null ? 200 : 206, {
        ...common,
        'Content-Type': 'application/octet-stream',
        'Content-Length': last - first + 1,
        ...(range === null ? {} : { 'Content-Range': `bytes ${first}-${last}/${found.size}` }),
      })
      if (method === 'HEAD' || found.size === 0) response.end()
      else
        createReadStream(path, { start: first, end: last })
          .on('error', () => response.destroy())
          .pipe(response)
    }
  }
}
