/**
 * A fault in the input or in the command that ends a build; its message is shown to the operator as it is.
 */
export class BuildError extends Error {
  override name = 'BuildError'
}
