#!/usr/bin/env node
/**
 * The start of the program: checks the version of Node, catches signals, and only then loads the rest, which
 * takes longer. The build makes one file of it that Node 12 can read, so that users of an old Node get a
 * sentence and not a stack.
 */
import { catchSignals } from './commands/signals.ts'

/** The least Node release, as `engines` in package.json names it. */
const NEEDED = [20, 19]

/** Whether the log is to be JSON. An option counts before the variable, as in `commands/command.ts`. */
function wantsJson(argv: readonly string[]): boolean {
  let format = process.env['GROUNDSWELL_LOG_FORMAT']
  for (let i = 0; i < argv.length && argv[i] !== '--'; i++) {
    if (argv[i] === '--log-format') format = argv[i + 1]
    else if (argv[i].startsWith('--log-format=')) format = argv[i].slice('--log-format='.length)
  }
  return format === 'json'
}

const argv = process.argv.slice(2)
const isJson = wantsJson(argv)
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  const signals = catchSignals()
  void import('./commands/dispatch.ts').then(({ runCommand }) => runCommand(argv, isJson, signals))
} else {
  const message = `groundswell: Node ${NEEDED.join('.')} or newer is needed, this is ${process.versions.node}`
  const event = { time: new Date().toISOString(), level: 'error', message }
  process.stderr.write(`${isJson ? JSON.stringify(event) : message}\n`)
  process.exitCode = 1
}
