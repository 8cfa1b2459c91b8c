/** Why a mirror cannot go on for now. The message is for the operator. */
export class MirrorFault extends Error {
  override name = 'MirrorFault'
  /** Seconds that the source asked to wait. */
  readonly retryAfter: number

  constructor(message: string, { retryAfter = 0, cause }: { retryAfter?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.retryAfter = retryAfter
  }
}
