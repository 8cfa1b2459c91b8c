/**
 * A command line that cannot be understood; the message names the option. Ends the command with exit code 2.
 */
export class UsageError extends Error {
  override name = 'UsageError'
}
