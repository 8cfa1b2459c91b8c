/** The error that ends a build. */
import { cutText } from './log.ts'

/** Characters of a message, which may quote a line of any length. */
const MOST_CHARACTERS = 1500

/**
 * A fault in the input or in the command that ends a build. The operator gets its message, cut if it is long.
 */
export class BuildError extends Error {
  override name = 'BuildError'

  constructor(message: string, options?: ErrorOptions) {
    super(cutText(message, MOST_CHARACTERS), options)
  }
}
