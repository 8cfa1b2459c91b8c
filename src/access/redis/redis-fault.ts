/** What can be wrong with a Redis, as an operator has to know it. */

export type FaultKind =
  /** No connection, or it broke. */
  | 'away'
  /** Connected, and no answer in time. */
  | 'slow'
  /** User or password are refused. */
  | 'login'
  /** The ACL of the user does not allow a command or a name. */
  | 'forbidden'
  /** A copy of another server, or one without enough copies of its own: takes no writes. */
  | 'read-only'
  /** Out of memory, or its disk cannot be written: takes no writes. */
  | 'full'
  /** Reads its data from disk; soon over. */
  | 'loading'
  | 'tls'
  /** An answer was not in the form that it must have. */
  | 'garbled'
  /** Redis refused the call for another reason. */
  | 'refused'

export const GARBLED = 'gives an answer in an unexpected form'

/** A call that Redis did not carry out, as far as is known. The message has no password or content. */
export class RedisFault extends Error {
  override readonly name = 'RedisFault'
  readonly kind: FaultKind
  /** Empty where Redis did not answer. It may repeat content, so it stays out of messages. */
  readonly answer: string

  constructor(kind: FaultKind, message: string, answer = '') {
    super(message)
    this.kind = kind
    this.answer = answer
  }
}

/** Kinds of faults with their texts, by the first word of Redis's answer. */
const ANSWERS: { readonly [word: string]: readonly [FaultKind, string] } = {
  WRONGPASS: ['login', 'refuses the user or the password'],
  NOAUTH: ['login', 'requires a password'],
  NOPERM: ['forbidden', 'does not allow its user all commands and names that are needed'],
  READONLY: ['read-only', 'is a read-only copy'],
  NOREPLICAS: ['read-only', 'takes no writes: it has fewer copies than it is set to have'],
  MASTERDOWN: ['read-only', 'is a copy whose primary is down'],
  OOM: ['full', 'is out of memory'],
  MISCONF: ['full', 'takes no writes: it cannot save to its disk'],
  LOADING: ['loading', 'is reading its data'],
  BUSY: ['slow', 'is busy with a script'],
  CLUSTERDOWN: ['away', 'is a cluster that is down'],
}

/** Codes of Node and OpenSSL for certificates that do not hold. */
const TLS_CODE = /CERT|SSL|TLS|SELF_SIGNED|ISSUER/

export function faultOf(error: unknown): RedisFault {
  if (error instanceof RedisFault) return error
  const { message = '', code } = error as { message?: unknown; code?: unknown }
  const text = String(message)
  const word = /^[A-Z]{3,}\b/.exec(text)?.[0] ?? ''
  if (Object.hasOwn(ANSWERS, word)) return new RedisFault(...ANSWERS[word], text)
  if (typeof code === 'string') {
    return TLS_CODE.test(code)
      ? new RedisFault('tls', `does not pass the check of its certificate (${code})`)
      : new RedisFault('away', `cannot be reached (${code})`)
  }
  if (/user executing the script/.test(text)) return new RedisFault(...ANSWERS['NOPERM'], text)
  if (/AUTH|called without any password/.test(text)) {
    return new RedisFault('login', 'refuses the password: none is set there', text)
  }
  if (isConnectionError(error)) return new RedisFault('away', 'closed the connection')
  // A Redis too old to know a command repeats its arguments behind the name.
  const said = text.split(/,? with args/)[0].slice(0, 120)
  return new RedisFault('refused', `answers ${JSON.stringify(said)}`, text)
}

function isConnectionError(error: unknown): boolean {
  const names = /^(Client|Socket|Connection|Disconnects|RootNodes|Abort|Timeout)/
  return error instanceof Error && names.test(error.constructor.name)
}
