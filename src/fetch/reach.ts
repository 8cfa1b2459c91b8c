/** Whether the hosts of a configuration can be reached at all, and what time they have. */
import { request } from 'undici'
import type { Configuration } from '../sources/configuration.ts'

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
  const { host } = new URL(origin)
  try {
    const { statusCode, headers, body } = await request(`${origin}/`, {
      method: 'HEAD',
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: { 'user-agent': 'groundswell doctor' },
    })
    await body.dump()
    const time = Date.parse(String(headers.date ?? '')) / 1000
    return { host, outcome: { status: statusCode }, time: Number.isNaN(time) ? null : time }
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException
    const fault = name === 'TimeoutError' ? `no answer within ${PATIENCE_MS / 1000} s` : (code ?? message)
    return { host, outcome: { fault }, time: null }
  }
}
