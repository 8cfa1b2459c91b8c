/** Where snapshots and keys lie when no option says so, and what a start does when it cannot have them. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { temporaryFolder } from '../live.ts'
import { BARE, startProgram, type Program, type Surroundings } from '../started_program.ts'

const ISSUE = ['keys', 'issue', '--owner=a']
/** A user that no system has an entry of. */
const STRANGER = 54_321
const ONLY_ROOT = process.getuid?.() === 0 ? false : 'only root may start a process as another user'

const USUAL = ['--port=0', '--admin-port=off', '--workers=1']
/** Arguments of a look at a small demo. */
const look = (data: string): string[] => [`--data=${data}`, ...USUAL, '--source=demo:scale,buoys=3,days=2']

function start(t: TestContext, args: string[], place: Surroundings): Program {
  return startProgram(t, args, { ...place, env: { ...BARE, ...place.env } })
}

async function outcome(t: TestContext, args: string[], place: Surroundings): Promise<string> {
  const program = start(t, args, place)
  const code = await program.ended
  return `${code} ${program.stderr}`
}

test('Keys lie in the folder that --data names, in a folder data that is used already, in XDG_DATA_HOME, or below the home.', async (t) => {
  const [cwd, used, xdg, home, named] = Array.from({ length: 5 }, () => temporaryFolder(t))
  mkdirSync(join(used, 'data', 'snapshots'), { recursive: true })
  const cases: [args: string[], place: Surroundings, expected: string][] = [
    [['--data', join(named, 'a')], { cwd: used, env: { XDG_DATA_HOME: xdg } }, join(named, 'a')],
    [[], { cwd: used, env: { GROUNDSWELL_DATA: join(named, 'b') } }, join(named, 'b')],
    [[], { cwd: used, env: { XDG_DATA_HOME: xdg } }, join(used, 'data')],
    [[], { cwd, env: { XDG_DATA_HOME: xdg, HOME: home } }, join(xdg, 'groundswell')],
    [[], { cwd, env: { XDG_DATA_HOME: 'relative', HOME: home } }, join(home, '.local/share/groundswell')],
  ]
  for (const [args, place, expected] of cases) {
    assert.equal(await outcome(t, [...ISSUE, ...args], place), '0 ', expected)
    assert.ok(existsSync(join(expected, 'keys.json')), expected)
  }
  assert.equal(statSync(join(xdg, 'groundswell')).mode & 0o777, 0o700)
  // The option of a single file counts before the folder.
  assert.equal(
    await outcome(t, [...ISSUE, `--keys=${join(cwd, 'k.json')}`, `--data=${join(cwd, 'not made')}`], {
      cwd: used,
    }),
    '0 ',
  )
})

test(
  'A user without a home gets a sentence, and is asked for --data only where it is needed.',
  { skip: ONLY_ROOT },
  async (t) => {
    const cwd = temporaryFolder(t)
    chmodSync(cwd, 0o755)
    const place = { cwd, uid: STRANGER }
    assert.match(
      await outcome(t, ISSUE, place),
      /^2 groundswell: there is no folder for snapshots and keys: .*--data DIR\n$/,
    )
    assert.match(
      await outcome(t, ['keys', 'list', '--keys', join(cwd, 'none.json')], place),
      /^1 .*there is no such file/,
    )
  },
)

test(
  'A data folder that cannot be made, or belongs to somebody else, is reported in a sentence.',
  { skip: ONLY_ROOT },
  async (t) => {
    const cwd = temporaryFolder(t)
    chmodSync(cwd, 0o755)
    mkdirSync(join(cwd, 'others'), { mode: 0o700 })
    mkdirSync(join(cwd, 'readable'), { mode: 0o755 })
    for (const data of [join(cwd, 'others', 'x'), join(cwd, 'new'), join(cwd, 'readable')]) {
      const said = await outcome(t, ['--data', data, '--port=0', '--admin-port=off'], { cwd, uid: STRANGER })
      assert.equal(said, `1 groundswell: ${data}: access is denied\n`)
    }
    writeFileSync(join(cwd, 'file'), '')
    assert.equal(
      await outcome(t, ['--data', join(cwd, 'file')], { cwd }),
      `1 groundswell: ${join(cwd, 'file')}: is not a folder\n`,
    )
  },
)

test('Of two first starts at once in one folder both serve, and one of them names the key.', async (t) => {
  const cwd = temporaryFolder(t)
  const both = [start(t, look(cwd), { cwd }), start(t, look(cwd), { cwd })]
  await Promise.all(both.map((each) => each.says(/look around/)))
  const shown = both.flatMap(({ stdout }) => [...stdout.matchAll(/the key (\w+) was issued/g)])
  assert.equal(shown.length, 1, both.map(({ stdout, stderr }) => stdout + stderr).join('\n'))
})

test(
  'Snapshots and keys of a folder that cannot be written to are served; builds fail and are reported.',
  { skip: ONLY_ROOT },
  async (t) => {
    const cwd = temporaryFolder(t)
    chmodSync(cwd, 0o755)
    const data = join(cwd, 'd')
    const first = start(t, look(data), { cwd })
    await first.says(/look around/)
    chmodSync(data, 0o755)
    chownSync(join(data, 'keys.json'), STRANGER, STRANGER)
    const second = start(t, [...look(data), '--every=1s'], { cwd, uid: STRANGER })
    await second.says(/look around/)
    await second.says(/build .*(denied|cannot|failed)/)
  },
)
