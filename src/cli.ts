#!/usr/bin/env node
/**
 * Where the program begins: asks for the Node that it needs, catches signals, and only then loads the rest,
 * which takes its time.
 */
import { realpathSync, utimesSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { catchSignals, oldNodeFault, type Signals } from './begin.mjs'

/** @param argv what stands behind the program's name */
export async function main(argv: readonly string[], signals: Signals = catchSignals()): Promise<void> {
  keepInUse()
  const { runCommand } = await import('./commands/dispatch.ts')
  await runCommand(argv, signals)
}

/**
 * Milliseconds between two marks that compiled code is in use: `builds.mjs` clears away what has had none for
 * days.
 */
const MARK_INTERVAL = 600_000

function keepInUse(): void {
  const stamp = fileURLToPath(new URL('.sources', import.meta.url))
  const mark = (): void => {
    try {
      const now = new Date()
      utimesSync(stamp, now, now)
    } catch {
      // An installed package has no stamp; what may not be written is cleared away by nobody either.
    }
  }
  mark()
  setInterval(mark, MARK_INTERVAL).unref()
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const fault = oldNodeFault()
  if (fault === null) void main(process.argv.slice(2))
  else {
    process.stderr.write(fault)
    process.exitCode = 1
  }
}
