#!/usr/bin/env node
/**
 * The entry of the program: checks the version of Node, catches signals, and only then loads the rest, which
 * takes longer.
 */
import { realpathSync, utimesSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { catchSignals, oldNodeFault, wantsJson, writeEarly, type Signals } from './begin.mjs'

/**
 * Time between two marks that the compiled code is in use: `builds.mjs` removes builds without one for days.
 */
const MARK_INTERVAL_MS = 600_000

function keepInUse(): void {
  const stamp = fileURLToPath(new URL('.sources', import.meta.url))
  const mark = (): void => {
    try {
      const now = new Date()
      utimesSync(stamp, now, now)
    } catch {
      // An installed package has no stamp. A folder that cannot be written to is not cleared by anybody
      // either.
    }
  }
  mark()
  setInterval(mark, MARK_INTERVAL_MS).unref()
}

/** @param argv what follows the program's name */
export async function main(argv: readonly string[], signals: Signals = catchSignals()): Promise<void> {
  keepInUse()
  const { runCommand } = await import('./commands/dispatch.ts')
  await runCommand(argv, signals)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const fault = oldNodeFault()
  if (fault === null) void main(process.argv.slice(2))
  else {
    writeEarly(fault, wantsJson(process.argv.slice(2)))
    process.exitCode = 1
  }
}
