/** Texts: their order, and small pieces of messages. */

/** An address of IPv6 in brackets, as URLs have it. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Orders texts by their UTF-16 code units: the same on every machine, whatever its language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const MOST_FRAMES = 6

/** What may be said of a fault: where it happened. Its message may quote a request. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is not an Error was thrown'
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return [error.name, ...frames.slice(0, MOST_FRAMES)].join('\n')
}
