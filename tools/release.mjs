// Makes a release of the last commit, up to the commands that need accounts:
//
//   npm run release -- 1.0.0               checks, tests, names, packs, commits, tags
//   npm run release -- 1.0.0 --from-tag    the files alone, from a clone of the tag, whose tests have run
//
// The files lie in `release/`. Nothing leaves the machine.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = 'release'
const PACKAGE = 'package.json'
const CHANGELOG = 'CHANGELOG.md'
const CITATION = 'CITATION.cff'
const KUSTOMIZATION = 'deploy/kubernetes/kustomization.yaml'
/** Files that name the version. */
const NAMING = [PACKAGE, 'package-lock.json', CHANGELOG, CITATION, KUSTOMIZATION]
/** RFC 2606 reserves the ending, so that such an address is nobody's. */
const PLACEHOLDER = /\.invalid\b/

const stop = (message) => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
const show = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' })
const git = (...args) => run('git', ...args).trim()

/** The changelog's lines below the heading of a version, up to the next heading; null without it. */
function notesOf(version) {
  const [, ...parts] = readFileSync(CHANGELOG, 'utf8').split(/^## /m)
  const part = parts.find((text) => text.startsWith(`[${version}]`))
  return part === undefined ? null : part.slice(part.indexOf('\n') + 1).trim()
}

/** The members of package.json that are missing or still have a placeholder. */
function unfilled() {
  const about = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  const texts = {
    description: about.description,
    keywords: about.keywords?.join(' '),
    license: about.license,
    'bugs.url': about.bugs?.url,
    'repository.url': about.repository?.url,
    homepage: about.homepage,
  }
  return Object.entries(texts)
    .filter(([, text]) => text === undefined || text === '' || PLACEHOLDER.test(text))
    .map(([name]) => name)
}

function check(version, isTagged) {
  if (git('status', '--porcelain') !== '') {
    stop('release: the tree has changes that are not committed; commit them or put them away')
  }
  const names = unfilled()
  if (names.length > 0) {
    stop(
      `release: package.json has a placeholder or nothing in ${names.join(', ')}; write the project's own addresses there`,
    )
  }
  if (notesOf(version) === null) {
    stop(`release: CHANGELOG.md has no heading "## [${version}]"; write what a user of this version notices`)
  }
  const tag = `v${version}`
  const isKnown = git('tag', '--list', tag) === tag
  if (isTagged && !(isKnown && git('rev-parse', `${tag}^{commit}`) === git('rev-parse', 'HEAD'))) {
    stop(`release: this commit is not the one of the tag ${tag}; check the tag out`)
  }
  if (!isTagged && isKnown) {
    stop(
      `release: the tag ${tag} exists already; choose the next version, or "git tag --delete ${tag}" if it was never published`,
    )
  }
}

const replaceIn = (file, pattern, text) => {
  const before = readFileSync(file, 'utf8')
  if (!pattern.test(before)) stop(`release: ${file} does not name a version where it should (${pattern})`)
  writeFileSync(file, before.replace(pattern, text))
}

function nameVersion(version, date) {
  run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts')
  const heading = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\].*$`, 'm')
  replaceIn(CHANGELOG, heading, `## [${version}] - ${date}`)
  replaceIn(CITATION, /^version: .*$/m, `version: ${version}`)
  replaceIn(KUSTOMIZATION, /newTag: .*$/m, `newTag: ${version}`)
}

/** @returns the names of the files */
function pack(version) {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  show('npm', 'run', '-s', 'build')
  const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--pack-destination', FOLDER))
  const bill = `groundswell-${version}.cdx.json`
  writeFileSync(
    join(FOLDER, bill),
    run('npm', 'sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'),
  )
  const sums = [filename, bill].map((name) => {
    const hash = createHash('sha256')
      .update(readFileSync(join(FOLDER, name)))
      .digest('hex')
    return `${hash}  ${name}\n`
  })
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums.join(''))
  writeFileSync(join(FOLDER, 'NOTES.md'), `${notesOf(version)}\n`)
  return [filename, bill, 'SHA256SUMS', 'NOTES.md']
}

const args = process.argv.slice(2)
const isTagged = args.includes('--from-tag')
const [version, ...more] = args.filter((arg) => arg !== '--from-tag')
if (version === undefined || more.length > 0 || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  stop('release: say one version, such as "npm run release -- 1.0.0"')
}
check(version, isTagged)
if (isTagged) {
  process.stdout.write(`${pack(version).join('\n')}\n`)
} else {
  // The tests change nothing that is tracked, so they see the commit that is released but for its number.
  show('npm', 'test')
  nameVersion(version, new Date().toISOString().slice(0, 10))
  try {
    const files = pack(version)
    git('commit', '--quiet', '--allow-empty', '--message', `Version ${version}`, '--', ...NAMING)
    git('tag', '--annotate', `v${version}`, '--message', `groundswell ${version}`)
    process.stdout.write(`
release/ has ${files.join(', ')}, and the tag v${version} is set. What is left needs accounts:

    git push --atomic origin HEAD v${version}
    npm publish ./${FOLDER}/${files[0]} --access public
    docker build --file deploy/Dockerfile --tag groundswell:${version} ${FOLDER} && docker push groundswell:${version}
`)
  } catch (error) {
    git('checkout', '--', ...NAMING)
    throw error
  }
}
