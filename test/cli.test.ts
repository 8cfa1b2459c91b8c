/** The command line as its users meet it: exit codes, one line for each fault, help, and what the small commands print. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runCli, runCliWell, temporaryFolder } from './live.ts'

const CLI = new URL('../dist/cli.js', import.meta.url)
const FIXTURES = fileURLToPath(new URL('../data/fixtures/small', import.meta.url))
const run = promisify(execFile)

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
    const { main } = await import(${JSON.stringify(CLI.href)})
    const outcomes = []
    for (const argv of ${JSON.stringify(commandLines)}) {
      const outcome = { code: 0, stdout: '', stderr: '' }
      const kept = [process.stdout.write, process.stderr.write]
      process.stdout.write = (text) => ((outcome.stdout += text), true)
      process.stderr.write = (text) => ((outcome.stderr += text), true)
      process.exitCode = 0
      await main(argv)
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

test('Help lists the commands, and every command tells its usage and options.', async () => {
  const [overview, short, word, bare] = await runAll([['--help'], ['-h'], ['help'], []])
  for (const each of [short, word, bare]) assert.deepEqual(each, overview)
  assert.deepEqual([overview.code, overview.stderr], [0, ''])
  const commands = [...overview.stdout.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?) {2,}\S/gm)].map(
    ([, name]) => name,
  )
  for (const name of ['build', 'serve', 'run', 'inspect', 'keys issue'])
    assert.ok(commands.includes(name), name)
  const helps = await runAll(commands.map((name) => [...name.split(' '), '--help']))
  for (const [i, { code, stdout, stderr }] of helps.entries()) {
    assert.deepEqual([code, stderr], [0, ''], commands[i])
    assert.ok(stdout.startsWith(`groundswell ${commands[i]} `), stdout)
  }
  const serve = helps[commands.indexOf('serve')].stdout
  for (const option of [
    '--port PORT',
    '--snapshots DIR',
    '--keys FILE',
    '--base-path PATH',
    '--host ADDRESS',
  ]) {
    assert.ok(serve.includes(`  ${option}`), option)
  }
  for (const argv of [
    ['keys', '--help'],
    ['keys', 'help'],
    ['keys', '-h'],
  ]) {
    const [{ code, stdout }] = await runAll([argv])
    assert.equal(code, 0)
    assert.ok(stdout.includes('keys issue'), argv.join(' '))
  }
})

test('A command line that cannot be understood ends with exit code 2 and one line that names what is wrong.', async () => {
  const wrong: [argv: string[], named: string][] = [
    [['sreve'], '"sreve"'],
    [['Serve'], '"Serve"'],
    [['--port=1'], '"--port=1"'],
    [['constructor'], '"constructor"'],
    [['__proto__'], '"__proto__"'],
    [['keys'], '"keys"'],
    [['keys', 'isue'], '"keys isue"'],
    [['serve', '--prot=1'], '--prot'],
    [['serve', '--port', '-1'], '--port'],
    [['serve', '--port'], '--port'],
    [['serve', '--port=http'], '--port'],
    [['serve', '--host='], '--host'],
    [['serve', '--workers=0'], '--workers'],
    [['serve', '--port=1', '--port=2'], '--port'],
    [['serve', 'now'], '"now"'],
    [['serve', '--', '--port=1'], '"--port=1"'],
    [['build'], '--source'],
    [['build', '--source=parquet:x'], '"parquet"'],
    [['build', '--source=constructor'], '"constructor"'],
    [['build', '--source='], '--source'],
    [['build', '--source=demo:everything'], '--source demo'],
    [['build', '--source=demo', '--as-of=tomorrow'], '--as-of'],
    [['build', '--source=demo', '--max-bad=10'], '--max-bad'],
    [['inspect'], 'inspect DIR'],
    [['inspect', 'a', 'b'], '"b"'],
    [['keys', 'issue'], '--owner'],
    [['keys', 'issue', '--owner=a', '--quota=0'], '--quota'],
    [['keys', 'issue', '--owner=a', '--json=1'], '--json'],
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
  const cases = [
    ['inspect', nowhere],
    ['build', `--source=csv:${nowhere}`, `--out=${join(folder, 'out')}`],
    ['build', `--source=ndbc:${nowhere}`, `--out=${join(folder, 'out')}`],
  ]
  for (const { code, stdout, stderr } of await runAll(cases)) {
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^groundswell: [^\n]+\n$/)
    assert.ok(stderr.includes(nowhere), stderr)
  }
})

test('The process itself ends with these codes.', async () => {
  assert.equal((await runCli(['serve', '--prot=1'])).code, 2)
  assert.equal((await runCli(['inspect', '/nonexistent'])).code, 1)
  assert.equal((await runCli(['--help'])).code, 0)
})

test('A variable stands in for an option, is named when it is wrong, and yields to the option.', async (t) => {
  const keys = join(temporaryFolder(t), 'keys.json')
  const environment = {
    GROUNDSWELL_KEYS: keys,
    GROUNDSWELL_JSON: 'true',
    GROUNDSWELL_QUOTA: '7',
    GROUNDSWELL_PORT: 'x',
  }
  const [one, two, wrong] = await runAll(
    [['keys', 'issue', '--owner=one'], ['keys', 'issue', '--owner=two', '--quota=9'], ['serve']],
    environment,
  )
  assert.deepEqual(
    [one, two].map(({ stdout }) => (JSON.parse(stdout) as { quota: number }).quota),
    [7, 9],
  )
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /^groundswell: GROUNDSWELL_PORT: expected a whole number/)
  assert.equal((JSON.parse(readFileSync(keys, 'utf8')) as { keys: unknown[] }).keys.length, 2)
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

test('A build says what it read on the standard error, and inspect what the snapshot holds.', async (t) => {
  const out = join(temporaryFolder(t), 'snapshots')
  const built = await runCli(['build', '--source', `csv:${FIXTURES}`, '--out', out])
  assert.deepEqual([built.code, built.stdout], [0, ''])
  const id = /published snapshot ([0-9a-f]{24}), data as of (\S+)/.exec(built.stderr)
  assert.ok(id !== null, built.stderr)
  const lines = (await runCliWell(['inspect', out])).split('\n')
  const told = (name: string): string => lines.find((line) => line.startsWith(name)) ?? assert.fail(name)
  assert.ok(told('snapshot ').includes(id[1]))
  assert.ok(told('as of ').includes(id[2]))
  assert.match(told('buoys '), / 10 of 3 sources /)
  assert.match(told('catalog '), /^catalog +1 +10 +\d+ +\d+\.\d\d$/)
  assert.match(told('readings from '), new RegExp(`to ${id[2]}$`))
  const sums = lines
    .filter((line) => /^readings +\d/.test(line))
    .map((line) => line.trim().split(/ +/).map(Number))
  assert.equal(sums.length, 1)
  assert.match(told('bytes per reading: '), /^bytes per reading: \d+\.\d\d in columns, \d+\.\d\d on disk/)
})

test('inspect refuses a snapshot with a damaged part, naming it.', async (t) => {
  const out = join(temporaryFolder(t), 'snapshots')
  await runCliWell(['build', '--source', `csv:${FIXTURES}`, '--out', out])
  const part = readdirSync(out).find((file) => file.startsWith('readings')) ?? assert.fail('no readings')
  truncateSync(join(out, part), 100)
  const { code, stderr } = await runCli(['inspect', out])
  assert.equal(code, 1)
  assert.ok(stderr.startsWith(`groundswell: ${part}: `), stderr)
})
