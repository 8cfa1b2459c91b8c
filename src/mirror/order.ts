/**
 * Which of two publications is the later one. A cache or a store that lags behind may show a manifest that
 * was replaced long ago, while a rollback publishes an old snapshot again on purpose. Both have the same
 * bytes; only when they were published tells them apart.
 */

/** One publication of a snapshot, as a manifest and the answer that brought it describe it. */
export interface Publication {
  id: string
  /** The data's time, epoch seconds. */
  asOf: number
  /** When the source's manifest was written, by the source's clock (`Last-Modified`); null where unknown. */
  publishedAt: number | null
}

/**
 * Why what a source shows must not replace what is held; null where it may.
 * @param wasLeft whether the mirror has held this snapshot before and gone on to another one
 */
export function whyOlder(shown: Publication, held: Publication, wasLeft: boolean): string | null {
  const areDated = shown.publishedAt !== null && held.publishedAt !== null
  if (areDated && shown.publishedAt! >= held.publishedAt!) return null
  // Not dated, or dated earlier: by a cache that lags, or by a clock that was set back since.
  if (wasLeft) return areDated ? 'it was replaced before' : 'it was replaced before, and is not dated anew'
  return shown.asOf >= held.asOf ? null : 'its data is older'
}
