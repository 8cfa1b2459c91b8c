/** The command line as users meet it: exit codes, a line for each fault, help, and the small commands. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fstatSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { COMMANDS, expectedFault } from '../../src/commands/dispatch.ts'
import { KINDS } from '../../src/sources/kinds.ts'
import { runCli, runCliWell, temporaryFolder } from '../live.ts'

const CLI = new URL('../../dist/cli.js', import.meta.url)
const FIXTURES = fileURLToPath(new URL('../../data/fixtures/small', import.meta.url))
const BROKEN = fileURLToPath(new URL('../../data/fixtures/broken/csv', import.meta.url))
const run = promisify(execFile)

/** What a program needs that runs command lines of its own choice. */
const IMPORTS = `
    import { runCommand } from ${JSON.stringify(new URL('commands/dispatch.js', CLI).href)}
    import { catchSignals } from ${JSON.stringify(new URL('commands/signals.js', CLI).href)}`

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

/** Runs command lines one after the other in a single process, which costs less than a process each. */
async function runAll(
  commandLines: string[][],
  environment: { [name: string]: string } = {},
): Promise<Outcome[]> {
  const script = `
    ${IMPORTS}
    // Each command line listens to signals and to closed pipes anew.
    for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)
    const outcomes = []
    for (const argv of ${JSON.stringify(commandLines)}) {
      const outcome = { code: 0, stdout: '', stderr: '' }
      const kept = [process.stdout.write, process.stderr.write]
      process.stdout.write = (text) => ((outcome.stdout += text), true)
      process.stderr.write = (text) => ((outcome.stderr += text), true)
      process.exitCode = 0
      await runCommand(argv, false, catchSignals())
      outcome.code = process.exitCode
      ;[process.stdout.write, process.stderr.write] = kept
      outcomes.push(outcome)
    }
    process.exitCode = 0
    process.stdout.write(JSON.stringify(outcomes))`
  const env = { PATH: process.env['PATH'] ?? '', ...environment }
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env })
  return JSON.parse(stdout) as Outcome[]
}

const helpLine = (name: string): string[] => [...name.split(' ').filter((word) => word !== ''), '--help']

/** The help of every command, of the group of keys, and of the program. */
const NAMES = ['', ...Object.keys(COMMANDS), 'keys']
const helps = new Map((await runAll(NAMES.map(helpLine))).map((help, i) => [NAMES[i], help]))

test('Help lists the commands, and every command shows its usage and options.', async () => {
  const overview = helps.get('')!
  const [short, word, ...ofServe] = await runAll([['-h'], ['help'], ['help', 'serve'], ['--help', 'serve']])
  for (const each of [short, word]) assert.deepEqual(each, overview)
  assert.deepEqual([overview.code, overview.stderr], [0, ''])
  const commands = [...overview.stdout.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name]) => name)
  for (const name of ['build', 'serve', 'run', 'inspect', 'keys']) assert.ok(commands.includes(name), name)
  for (const name of commands) {
    const { code, stdout, stderr } = helps.get(name)!
    assert.deepEqual([code, stderr], [0, ''], name)
    assert.ok(stdout.startsWith(`Usage: groundswell ${name} `), stdout)
  }
  const serve = helps.get('serve')!.stdout
  for (const { stdout } of ofServe) assert.equal(stdout, serve)
  const options = ['port <PORT>', 'snapshots <DIR>', 'keys <FILE>', 'base-path <PATH>', 'host <ADDRESS>']
  for (const option of options) assert.ok(serve.includes(`  --${option}`), option)
})

test('A group without a command lists its commands, and the version is shown.', async () => {
  const words = ['keys', 'keys -h', '--version', 'version', '-v']
  const [group, short, ...versions] = await runAll(words.map((line) => line.split(' ')))
  for (const help of [short, helps.get('keys')]) assert.deepEqual(group, help)
  const commands = [...group.stdout.matchAll(/^ {2}([a-z]\S+) {2,}\S/gm)].map(([, name]) => name)
  assert.deepEqual(commands, ['issue', 'list', 'rotate', 'revoke', 'set-quota'])
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  for (const each of versions)
    assert.deepEqual(each, { code: 0, stdout: `groundswell ${version}\n`, stderr: '' })
})

test('Help of a build names the kinds of sources.', () => {
  for (const name of ['build', 'run']) {
    for (const kind of Object.keys(KINDS))
      assert.match(helps.get(name)!.stdout, new RegExp(`^  ${kind} +\\S`, 'm'))
  }
})

test('A keys file that is named and missing is a fault; the default one may be missing.', async (t) => {
  const keys = join(temporaryFolder(t), 'keys.json')
  const id = 'k_0123456789'
  const named = [['list'], ['rotate', id], ['revoke', id], ['set-quota', id, '5']].map((words) => [
    'keys',
    ...words,
    '--keys',
    keys,
  ])
  for (const outcome of await runAll([...named, ['serve', '--keys', keys]])) {
    assert.deepEqual([outcome.code, outcome.stdout], [1, ''])
    assert.equal(
      outcome.stderr,
      `groundswell: ${keys}: there is no such file (--keys); "keys issue" makes one\n`,
    )
  }
  const [variable] = await runAll([['keys', 'list']], { GROUNDSWELL_KEYS: keys })
  assert.match(variable.stderr, /there is no such file \(GROUNDSWELL_KEYS\)/)
  const [missing] = await runAll([['keys', 'issue', '--owner=a', '--keys', join(keys, 'k.json')]])
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /k\.json: cannot be written: there is no folder \S+keys\.json\n$/)
  const { stdout } = await run(process.execPath, [fileURLToPath(CLI), 'keys', 'list'], {
    cwd: temporaryFolder(t),
    env: { ...process.env, XDG_DATA_HOME: temporaryFolder(t) },
  })
  assert.equal(stdout, 'no keys\n')
})

test('Every command that needs a folder reports a missing one in a sentence.', async (t) => {
  const folder = temporaryFolder(t)
  const [nowhere, file] = ['nowhere', 'file'].map((name) => join(folder, name))
  writeFileSync(file, '')
  const commands = ['inspect', 'check', 'report', 'list', 'pin', 'unpin', 'rollback', 'resume']
  const lines = (dir: string): string[][] =>
    commands.map((name) => [name, dir, ...(name.endsWith('pin') ? ['0'.repeat(24)] : [])])
  const advice = `there is no such folder; "groundswell build --out ${nowhere}" makes one`
  for (const { code, stdout, stderr } of await runAll(lines(nowhere)))
    assert.deepEqual([code, stdout, stderr], [1, '', `groundswell: ${nowhere}: ${advice}\n`])
  for (const { stderr } of await runAll(lines(file)))
    assert.equal(stderr, `groundswell: ${file}: is not a folder\n`)
})

test('Who reads no further, as head does, ends nothing with noise.', async (t) => {
  const out = join(temporaryFolder(t), 'snapshots')
  await runCliWell(['build', '--source=demo:scale,buoys=2,days=1', '--out', out])
  const line = `"$0" "$1" inspect "$2" 2>&1 >/dev/full | cat; { "$0" "$1" inspect "$2"; echo "code $?" >&2; } | true`
  const { stdout, stderr } = await run('sh', ['-c', line, process.execPath, fileURLToPath(CLI), out])
  assert.match(stdout, /ENOSPC/, 'another fault of the output is reported')
  assert.equal(stderr, 'code 0\n')
})

test('A fault of the program keeps its stack; one of files is a sentence.', async () => {
  const errorOf = (cause: () => unknown): unknown => {
    try {
      return cause()
    } catch (error) {
      return error
    }
  }
  const faults: [cause: () => unknown, sentence: string | null][] = [
    [() => Buffer.alloc('5' as unknown as number), null],
    [() => readFileSync('a\0b'), null],
    [() => fstatSync(999_999), null],
    [() => readFileSync('/nowhere/x'), '/nowhere/x: there is no such file or folder'],
    [() => readFileSync('/'), 'EISDIR: illegal operation on a directory, read'],
  ]
  for (const [cause, sentence] of faults) assert.equal(expectedFault(errorOf(cause)), sentence)
  const script = `${IMPORTS}\nawait runCommand(['list', 'a\\0b'], false, catchSignals())`
  await assert.rejects(run(process.execPath, ['--input-type=module', '-e', script]), /TypeError[^]*\n +at /)
})

test('A run builds under the limits that it is given.', async (t) => {
  const folder = temporaryFolder(t)
  const places = ['--snapshots', join(folder, 's'), '--keys', join(folder, 'keys.json')]
  const once = ['--every=0', '--port=0', '--admin-port=off', '--workers=1']
  const given = ['run', ...once, ...places, '--source', `csv:${BROKEN}`, '--max-bad=0%']
  const { code, stderr } = await runCli(given)
  assert.equal(code, 1)
  assert.match(stderr, /too many of its lines are bad \(--max-bad\)/)
})

test('A command line that cannot be understood ends with exit code 2 and one line that names what is wrong.', async () => {
  const wrong: [argv: string[], named: string][] = [
    [['sreve'], "unknown command 'sreve' (Did you mean serve?)\n"],
    [['serve', '--colour'], "unknown option '--colour'\n"],
    [['--prot=1'], 'Did you mean --port?'],
    [['__proto__'], "'__proto__'"],
    [['keys', 'isue'], 'Did you mean issue?'],
    [['serve', '--', '--port=1'], '"--port=1"'],
    [['build'], '--source'],
    [['build', '--source=parquet:x'], '"parquet"'],
    [['build', '--source=demo:everything'], '--source demo'],
    [['run', '--jitter=31m'], '--jitter: expected no more than --every: '],
    [['--port=1', 'serve'], 'unexpected argument "serve": a command comes first and alone'],
    [['keys', '--keys=k.json', 'list'], "unknown option '--keys=k.json'"],
    [['serve', '-port', '1'], "unknown option '-port'"],
    [['serve', '--trusted-proxy=10.0.0.0/8,::1'], 'one each time'],
    [['inspect'], 'inspect [options] <DIR> [ID]'],
    [['inspect', 'a', 'b', 'c'], '"c"'],
    [['keys', 'set-quota', 'k_0123456789', '1.5'], 'N: expected'],
    [['keys', 'issue', '--owner=a', '--json=1'], "unknown option '--json=1'"],
    [['keys', 'list', '--keys=redis://:secret@host/0'], '--keys: expected a path, s3://BUCKET/'],
    [['serve', '--quota-store=redis://a,b/0'], '--quota-store: expected an address of one Redis'],
  ]
  const outcomes = await runAll(wrong.map(([argv]) => argv))
  for (const [i, [argv, named]] of wrong.entries()) {
    const { code, stdout, stderr } = outcomes[i]
    assert.deepEqual([code, stdout], [2, ''], `${argv.join(' ')}: ${stderr}`)
    assert.match(stderr, /^groundswell: [^\n]+\n$/, argv.join(' '))
    assert.ok(stderr.includes(named), `${argv.join(' ')}: ${stderr}`)
  }
})

test('Faults of files and folders end with exit code 1 and one line that names them.', async (t) => {
  const folder = temporaryFolder(t)
  const nowhere = join(folder, 'nowhere')
  const file = join(folder, 'file')
  writeFileSync(file, 'no folder')
  const out = `--out=${join(folder, 'out')}`
  const snapshots = join(nowhere, 'snapshots')
  const advice = `"groundswell build --out ${snapshots}" makes one, and --from mirrors one from elsewhere`
  const said: [argv: string[], what: string][] = [
    [['build', `--source=csv:${nowhere}`, out], `csv: there is no folder ${nowhere}`],
    [['build', `--source=csv:${file}`, out], `csv: there is no folder ${file}`],
    [['build', '--source=csv', out], 'csv: no folder is named: write csv:DIR'],
    [
      ['build', '--source=demo', `--out=${file}`],
      `${file}: this folder cannot be made (EEXIST): something of`,
    ],
    [['build', '--config', nowhere], `${nowhere}: cannot be read (ENOENT): there is no such file`],
    [['build', '--config', join(file, 'c.json')], '(ENOTDIR): a file is where a folder should be'],
    [['keys', 'list', '--data', file], '(ENOTDIR): a file is where a folder should be'],
    [['serve', '--port=0', '--data', nowhere], `${snapshots}: there is no such folder; ${advice}\n`],
    [['serve', '--port=0', '--snapshots', file], `${file}: is not a folder\n`],
  ]
  const outcomes = await runAll(said.map(([argv]) => argv))
  for (const [i, [argv, what]] of said.entries()) {
    assert.deepEqual([outcomes[i].code, outcomes[i].stdout], [1, ''], argv.join(' '))
    assert.match(outcomes[i].stderr, /^groundswell: [^\n]+\n$/)
    assert.ok(outcomes[i].stderr.includes(what), outcomes[i].stderr)
  }
})

test('A key is issued in one line of JSON, and only its hash is kept.', async (t) => {
  const keys = join(temporaryFolder(t), 'keys.json')
  const stdout = await runCliWell(['keys', 'issue', '--keys', keys, '--owner', 'Ada "x"', '--json'])
  assert.match(stdout, /^\{[^\n]*\}\n$/)
  const issued = JSON.parse(stdout) as { id: string; key: string; owner: string; quota: number }
  assert.deepEqual(Object.keys(issued), ['id', 'key', 'owner', 'quota'])
  assert.deepEqual([issued.owner, issued.quota], ['Ada "x"', 1000])
  const kept = readFileSync(keys, 'utf8')
  assert.ok(kept.includes(issued.id) && !kept.includes(issued.key))
  const again = await runCli(['keys', 'issue', '--keys', keys, '--owner', 'Ada "x"'])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /^groundswell: [^\n]*rotate[^\n]*\n$/)
  assert.equal(readFileSync(keys, 'utf8'), kept)
})

test('A build says what it read on the standard error, and inspect what the snapshot holds, or which part of it is damaged.', async (t) => {
  const out = join(temporaryFolder(t), 'snapshots')
  const built = await runCli(['build', '--source', `csv:${FIXTURES}`, '--out', out])
  assert.deepEqual([built.code, built.stdout], [0, ''])
  const id = /published snapshot ([0-9a-f]{24}), data as of (\S+)/.exec(built.stderr)
  assert.ok(id !== null, built.stderr)
  const lines = (await runCliWell(['inspect', out])).split('\n')
  const lineOf = (name: string): string => lines.find((line) => line.startsWith(name)) ?? assert.fail(name)
  assert.ok(lineOf('snapshot ').includes(id[1]))
  assert.ok(lineOf('as of ').includes(id[2]))
  assert.match(lineOf('buoys '), / 10 of 3 sources /)
  assert.match(lineOf('catalog '), /^catalog +1 +10 +\d+ +\d+\.\d\d$/)
  assert.match(lineOf('readings from '), new RegExp(`to ${id[2]}$`))
  const part = readdirSync(out).find((file) => file.startsWith('readings')) ?? assert.fail('no readings')
  truncateSync(join(out, part), 100)
  const { code, stderr } = await runCli(['inspect', out])
  assert.equal(code, 1)
  assert.ok(stderr.startsWith(`groundswell: ${part}: `), stderr)
})

test('A command that fails says why whatever the level of its log is.', async () => {
  const lines = ['error', 'debug'].map((level) => ['build', '--source=csv:/nowhere', `--log-level=${level}`])
  for (const failed of await runAll(lines))
    assert.deepEqual([failed.code, failed.stderr], [1, 'groundswell: csv: there is no folder /nowhere\n'])
  const asJson = await runCli(['serve', 'more', '--log-level=error', '--log-format=json'])
  assert.equal(asJson.code, 2)
  const { level: said, message } = JSON.parse(asJson.stderr) as { [member: string]: string }
  assert.match(`${said}: ${message}`, /^error: unexpected argument "more"/)
})
