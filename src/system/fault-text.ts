/** What may be said of a fault: where it happened. Its message may quote a request. */

const MOST_FRAMES = 6

export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is not an Error was thrown'
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return [error.name, ...frames.slice(0, MOST_FRAMES)].join('\n')
}
