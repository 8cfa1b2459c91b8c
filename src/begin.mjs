// What comes before everything else: the check of the Node version, and signals from the first moment on.
// Plain JavaScript that Node 12 and later can read, so that its users get a sentence and not a stack.
// Imported before anything that needs a newer Node.

/** The least Node release, as `engines` in package.json names it. */
const NEEDED = [20, 19]

/** The message for users of a Node that is too old; null with any other. */
export function oldNodeFault() {
  const running = process.versions.node.split('.').map(Number)
  const isOld = running[0] < NEEDED[0] || (running[0] === NEEDED[0] && running[1] < NEEDED[1])
  return isOld
    ? 'groundswell: Node ' + NEEDED.join('.') + ' or newer is needed, this is ' + process.versions.node + '\n'
    : null
}

/**
 * What arguments and environment show before they are read. An option counts before the variable, as in
 * `commands/command.ts`.
 */
function earlyValue(argv, option, variable) {
  let value = process.env[variable]
  for (let i = 0; i < argv.length && argv[i] !== '--'; i++) {
    if (argv[i] === option) value = argv[i + 1]
    else if (argv[i].indexOf(option + '=') === 0) value = argv[i].slice(option.length + 1)
  }
  return value
}

/** Whether the log is to be JSON. */
export function wantsJson(argv) {
  return earlyValue(argv, '--log-format', 'GROUNDSWELL_LOG_FORMAT') === 'json'
}

/** Whether the log is to have more than warnings and errors. */
export function wantsInfo(argv) {
  return ['error', 'warning'].indexOf(earlyValue(argv, '--log-level', 'GROUNDSWELL_LOG_LEVEL')) < 0
}

/**
 * Writes what comes before the program's own log to standard error: each line as it is, or as a JSON object.
 */
export function writeEarly(text, isJson, level = 'error') {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const line = (message) =>
    isJson ? JSON.stringify({ time: new Date().toISOString(), level, message }) : message
  process.stderr.write(lines.map((message) => line(message) + '\n').join(''))
}

/**
 * Catches the signals that ask for an end or a reload. Signals that come before a listener wait for it.
 * @returns {import('./begin.mjs').Signals}
 */
export function catchSignals() {
  const stops = []
  let reloads = 0
  let onStop = null
  let onReload = null
  const stop = (signal) => {
    stops.push(signal)
    if (onStop !== null) onStop(signal, stops.length)
  }
  const reload = () => {
    reloads++
    if (onReload !== null) onReload()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', reload)
  return {
    onStop(listener) {
      onStop = listener
      stops.forEach((signal, i) => listener(signal, i + 1))
    },
    onReload(listener) {
      onReload = listener
      if (reloads > 0) listener()
    },
    letGo() {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
      process.off('SIGHUP', reload)
      if (stops.length > 0) process.kill(process.pid, stops[0])
      else if (reloads > 0) process.kill(process.pid, 'SIGHUP')
    },
  }
}
