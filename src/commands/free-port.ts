/** Looks for the port before anything is built or loaded to serve there. */
import { findFreePort, ListenError } from '../http/port.ts'
import { API_ADDRESS } from '../server/serve-settings.ts'
import { inUrl } from '../system/text.ts'

/** A server on this machine answers within milliseconds. */
const ANSWER_MS = 2000
/** The guides of a groundswell begin so, whatever its base path. */
const OURS = '# groundswell'
/** A server that listens on all addresses is asked on this machine's own. */
const OWN: { readonly [host: string]: string } = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** @throws Error with the address and what to do; where a groundswell listens there, with its pages */
export async function expectFreePort({ host, port }: { host: string; port: number }): Promise<void> {
  try {
    await findFreePort(host, port, API_ADDRESS)
  } catch (error) {
    const name = OWN[host] ?? host
    const pages = `http://${inUrl(name)}:${port}/`
    if (port === 0 || !(await isOurs(pages))) throw error
    throw new ListenError(
      host,
      port,
      'groundswell is running there already',
      `open ${pages}, or choose another port with --port (0 takes any free one)`,
    )
  }
}

async function isOurs(pages: string): Promise<boolean> {
  try {
    const answer = await fetch(`${pages}llms.txt`, {
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const reader = answer.body?.getReader()
    const first = await reader?.read()
    await reader?.cancel()
    return Buffer.from(first?.value ?? [])
      .toString('utf8')
      .startsWith(OURS)
  } catch {
    return false
  }
}
