/** A fault in the input or in the command that ends a build. The operator gets its message as it is. */
export class BuildError extends Error {
  override name = 'BuildError'
}
