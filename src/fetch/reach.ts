/** Whether the hosts of a configuration can be reached at all, and what time they have. */
import type { Configuration } from '../sources/configuration.ts'
import { RequestFault, WebClient } from '../store/web-request.ts'

/** A person waits for the answer. */
const PATIENCE_MS = 8000

/** One host that files are fetched from. */
export interface HostAnswer {
  host: string
  /** What it answered, or why it did not. */
  outcome: { status: number } | { fault: string }
  /** Its clock, epoch seconds, halfway between question and answer; null where it does not say. */
  time: number | null
}

/**
 * Asks each host once for the head of its first page. The addresses are those that the operator wrote down;
 * nothing is followed, and no key is sent.
 */
export function reachHosts({ sources }: Configuration): Promise<HostAnswer[]> {
  const origins = new Set(
    sources.flatMap(({ downloads }) =>
      downloads.map(({ url }) => new URL(url.replaceAll(/[{}]/g, '')).origin),
    ),
  )
  return Promise.all([...origins].map((origin) => reach(origin)))
}

async function reach(origin: string): Promise<HostAnswer> {
  const url = new URL(origin)
  const limits = { connectMs: PATIENCE_MS, answerMs: PATIENCE_MS, stallMs: PATIENCE_MS }
  const client = new WebClient({ ...limits, slowestBytesPerSecond: 0 })
  try {
    const { status, headers } = await client.ask({
      url,
      method: 'HEAD',
      headers: { 'user-agent': 'groundswell doctor' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const time = Date.parse(headers.date ?? '') / 1000
    return { host: url.host, outcome: { status }, time: Number.isNaN(time) ? null : time }
  } catch (error) {
    const fault = error instanceof RequestFault ? error.message : `no answer within ${PATIENCE_MS / 1000} s`
    return { host: url.host, outcome: { fault }, time: null }
  } finally {
    client.close()
  }
}
