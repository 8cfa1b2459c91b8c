// Runs the command line from compiled code that is never older than the sources. Plain JavaScript, so that it
// runs on a fresh clone, and so that a Node that is too old gets as far as the message about it. An installed
// package has no sources and begins in `cli.js`.
import { catchSignals, oldNodeFault, wantsJson, writeEarly } from '../src/begin.mjs'

const fault = oldNodeFault()
if (fault === null) {
  const signals = catchSignals()
  void import('./builds.mjs').then(({ launch }) => launch(process.argv.slice(2), signals))
} else {
  writeEarly(fault, wantsJson(process.argv.slice(2)))
  process.exitCode = 1
}
