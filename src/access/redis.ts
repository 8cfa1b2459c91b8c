/**
 * Counts in Redis or Valkey that replicas share. Only this file knows the client library; its reconnection,
 * limits of time and TLS are used as they are.
 */

const CONNECT_TIMEOUT_MS = 2000
/** A connection ends when an answer is this late: a peer that has vanished does not close it. */
const ANSWER_TIMEOUT_MS = 2000
const RETRY_FIRST_MS = 50
const RETRY_LONGEST_MS = 1000
/** Characters of Redis's own words in a message. */
const MOST_SAID = 120
/** Calls of an hour. A greater count is not ours, and would close a quota until the hour ends. */
const MOST_CALLS = 2 ** 31

interface RedisAddress {
  /** The address with user and password. */
  readonly url: string
  /** The address without them, for messages. */
  readonly name: string
  readonly hasPassword: boolean
}

/**
 * Reads `redis://[[USER][:PASSWORD]@]HOST[:PORT][/DATABASE]`, or `rediss://` for TLS.
 * @throws Error that fits after "expected " and repeats nothing of the text, which may hold a password.
 */
export function parseRedisAddress(text: string): RedisAddress {
  const plain = /^(rediss?:\/\/)(?:[^@/?#\s]*@)?((?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:\/\d{0,5})?)$/i
  const [, scheme, place] = plain.exec(text) ?? []
  if (place === undefined || !URL.canParse(text) || /%(?![0-9a-f]{2})/i.test(text)) {
    throw new Error(
      'an address of one Redis such as redis://host:6379/0 or rediss://user:password@host:6379/0 (in user and password, percent-encode @ / ? # and %)',
    )
  }
  return { url: text, name: scheme + place, hasPassword: new URL(text).password !== '' }
}

export type SharedCounts = Awaited<ReturnType<typeof redisCounts>>

/** @param random gives a number in [0, 1) */
export async function redisCounts({ url, name }: RedisAddress, random: () => number) {
  const { createClient } = await import('@redis/client')
  const { hostname } = new URL(url)
  const client = createClient({
    url,
    name: 'groundswell',
    disableOfflineQueue: true,
    // An ACL would have to allow more commands for nothing that is used.
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: {
      // RFC 6066 allows names only, not addresses.
      ...(!/^[0-9.]+$|:/.test(hostname) && { servername: hostname }),
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: ANSWER_TIMEOUT_MS,
      // The library's own strategy gives up after a late answer.
      reconnectStrategy: (tries) =>
        Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** tries) * (0.5 + random() / 2),
    },
  })
  let fault: string | null = 'is not connected yet'
  let connections = 0
  client.on('error', (error) => (fault = redisFault(error)))
  client.on('ready', () => {
    fault = null
    connections++
  })
  return {
    /** The address without user and password. */
    name,
    /** Connections so far: each may lead to a different server. */
    get connections(): number {
      return connections
    },
    /** Why there is no connection, or null. */
    get fault(): string | null {
      return fault
    },
    // The promise rejects only if the client is closed before.
    connect: (): void => void client.connect().catch(() => {}),
    /**
     * Adds to fields of a hash that then lives for `expireS` seconds; returns their values. Rejects without
     * an answer.
     */
    add: async (
      hash: string,
      changes: readonly (readonly [field: string, by: number])[],
      expireS: number,
    ): Promise<number[]> => {
      const calls = client.multi()
      for (const [field, by] of changes) calls.hIncrBy(hash, field, by)
      const replies = (await calls.expire(hash, expireS).exec()) as unknown[]
      const counts = replies.slice(0, -1)
      if (counts.length !== changes.length || !counts.every((count) => Number.isSafeInteger(count)))
        throw new Error('gives an answer in an unexpected form')
      if ((counts as number[]).every((count) => Math.abs(count) < MOST_CALLS)) return counts as number[]
      throw new Error('has a count of 2^31 or more, which no calls make')
    },
    close: (): void => {
      if (client.isOpen) client.destroy()
    },
  }
}

/** The fault, as a sentence without a subject. It repeats no password. */
export function redisFault(error: unknown): string {
  const { code, message = '', replies } = error as { code?: unknown; message?: string; replies?: unknown[] }
  const first = replies?.find((reply) => reply instanceof Error)
  if (first !== undefined) return redisFault(first)
  if (typeof code === 'string') return `cannot be reached (${code})`
  // A server that is too old for a command repeats its arguments.
  const said = message.split(/,? with args/)[0].slice(0, MOST_SAID)
  return /^[A-Z]{3,} /.test(said) ? `answers ${JSON.stringify(said)}` : `does not answer (${said})`
}
