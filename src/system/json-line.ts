/** Lines of a log as JSON. */
import type { Level } from './log.ts'

/** One JSON object and the end of its line. @param now epoch seconds */
export function jsonLine(now: number, level: Level, fields: { [name: string]: unknown }): string {
  return `${JSON.stringify({ time: new Date(now * 1000).toISOString(), level, ...fields })}\n`
}
