/** `npm run release`, in a clone whose placeholders are filled, up to the commands that need accounts. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../docs/markdown.ts'
import { temporaryFolder } from '../live.ts'

const noHistory = existsSync(join(ROOT, '.git')) ? false : 'this is no clone: there is nothing to release'

test(
  'A release is refused until all is filled in, and then is tested, packed, summed, tagged and told how to publish.',
  { skip: noHistory },
  (t) => {
    const clone = join(temporaryFolder(t), 'groundswell')
    execFileSync('git', ['clone', '--quiet', ROOT, clone])
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    symlinkSync(join(ROOT, 'test', 'node_modules'), join(clone, 'test', 'node_modules'))
    const who = ['-c', 'user.name=A person', '-c', 'user.email=person@example.com']
    const git = (...args: string[]): string =>
      execFileSync('git', [...who, ...args], { cwd: clone, encoding: 'utf8' }).trim()
    const file = (name: string): string => join(clone, name)
    const release = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('node', ['tools/release.mjs', ...args], {
        cwd: clone,
        encoding: 'utf8',
        env: {
          ...process.env,
          GIT_AUTHOR_NAME: 'A person',
          GIT_AUTHOR_EMAIL: 'person@example.com',
          GIT_COMMITTER_NAME: 'A person',
          GIT_COMMITTER_EMAIL: 'person@example.com',
        },
      })
      return { status, stdout, stderr }
    }
    const refused = (pattern: RegExp, ...args: string[]): void => {
      const { status, stderr } = release(...args)
      assert.equal(status, 1, stderr)
      assert.match(stderr, pattern)
    }
    // Links are no folders to git: without this they would be a change.
    writeFileSync(join(clone, '.git', 'info', 'exclude'), 'node_modules\n')

    refused(/say one version/)
    refused(/say one version/, '1.0')
    refused(/placeholder or nothing in bugs\.url, repository\.url, homepage;/, '1.0.0')

    const about = JSON.parse(readFileSync(file('package.json'), 'utf8')) as {
      scripts: { [name: string]: string }
    }
    Object.assign(about, {
      homepage: 'https://groundswell.example',
      repository: { type: 'git', url: 'git+https://groundswell.example/groundswell.git' },
      bugs: { url: 'https://groundswell.example/issues' },
    })
    // The tests would run this one.
    about.scripts['test'] = `node -e "require('node:fs').writeFileSync('tested.log', '')"`
    writeFileSync(file('package.json'), `${JSON.stringify(about, null, 2)}\n`)
    refused(/changes that are not committed/, '1.0.0')
    git('commit', '--quiet', '--all', '--message', 'Addresses')
    refused(/no heading "## \[1\.0\.1\]"/, '1.0.1')
    refused(/not the one of the tag v1\.0\.0/, '1.0.0', '--from-tag')

    const { status, stdout, stderr } = release('1.0.0')
    assert.equal(status, 0, stderr)
    assert.ok(existsSync(file('tested.log')), 'the tests ran')
    assert.match(
      stdout,
      /git push --atomic origin HEAD v1\.0\.0\n.*npm publish \.\/release\/groundswell-1\.0\.0\.tgz .*\n.*docker build .* groundswell:1\.0\.0 /,
    )
    assert.equal(git('status', '--porcelain'), '')
    assert.equal(git('rev-parse', 'v1.0.0^{commit}'), git('rev-parse', 'HEAD'))
    assert.match(readFileSync(file('CHANGELOG.md'), 'utf8'), /^## \[1\.0\.0\] - \d{4}-\d\d-\d\d$/m)
    assert.deepEqual(readdirSync(file('release')).toSorted(), [
      'NOTES.md',
      'SHA256SUMS',
      'groundswell-1.0.0.cdx.json',
      'groundswell-1.0.0.tgz',
    ])
    for (const line of readFileSync(file('release/SHA256SUMS'), 'utf8').trim().split('\n')) {
      const [sum, name] = line.split('  ')
      const bytes = readFileSync(file(`release/${name}`))
      assert.equal(createHash('sha256').update(bytes).digest('hex'), sum, name)
    }
    const bill = JSON.parse(readFileSync(file('release/groundswell-1.0.0.cdx.json'), 'utf8')) as {
      components: { name: string }[]
    }
    const names = new Set(bill.components.map(({ name }) => name))
    for (const name of ['ajv', 'flatbush', 'msgpackr']) assert.ok(names.has(name), name)
    assert.ok(!names.has('tsx'), 'what only development needs is not in the package')

    refused(/tag v1\.0\.0 exists already/, '1.0.0')
    const again = release('1.0.0', '--from-tag')
    assert.equal(again.status, 0, again.stderr)
    assert.equal(git('status', '--porcelain'), '')
  },
)
