/** The files of `deploy/`: what other programs read of them, and what they say to ours. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { readOptions, variableOf } from '../../src/commands/command.ts'
import { LOADED, withVariables } from '../commands/loaded.ts'
import { shippedNodeOptions } from '../../tools/node_options.ts'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { ROOT } from '../docs/markdown.ts'
import { temporaryFolder } from '../live.ts'
import { missingTool } from '../programs.ts'

const DEPLOY = join(ROOT, 'deploy')
const KUBERNETES = join(DEPLOY, 'kubernetes')
const UNIT = join(DEPLOY, 'systemd', 'groundswell.service')

// What a document holds is what the types of the API are tried against.
// oxlint-disable-next-line typescript/no-explicit-any -- see above
type Manifest = any

const KUSTOMIZATION = parse(readFileSync(join(KUBERNETES, 'kustomization.yaml'), 'utf8')) as {
  resources: string[]
}
const MANIFESTS: Manifest[] = KUSTOMIZATION.resources.flatMap((file) =>
  parseAllDocuments(readFileSync(join(KUBERNETES, file), 'utf8')).map((document) => {
    assert.deepEqual(document.errors, [], file)
    return document.toJS()
  }),
)
const ofKind = (kind: string): Manifest => MANIFESTS.find((each) => each.kind === kind)

/** What the types of the API say against documents, a line each: excess members are errors in a literal. */
function faultsOf(t: TestContext, manifests: readonly Manifest[]): string[] {
  const folder = temporaryFolder(t)
  symlinkSync(join(ROOT, 'test', 'node_modules'), join(folder, 'node_modules'))
  const lines = manifests.map(
    ({ apiVersion, kind, ...rest }, i) =>
      `import type { ${kind} as T${i} } from 'kubernetes-types/${apiVersion.replace(/^([a-z]+)(\.[a-z0-9.]+)?\//, '$1/').replace(/^v1$/, 'core/v1')}'
export const m${i}: T${i} = ${JSON.stringify({ apiVersion, kind, ...rest })}`,
  )
  writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'))
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = '--noEmit --strict --module esnext --moduleResolution bundler --types'.split(' ')
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, '', 'manifests.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}

test('The manifests are what the API of Kubernetes takes, and a field that is misspelt or of another type is found.', (t) => {
  assert.ok(MANIFESTS.length >= 6)
  assert.deepEqual(faultsOf(t, MANIFESTS), [])
  const changed = (change: (deployment: Manifest) => void): Manifest => {
    const copy = structuredClone(ofKind('Deployment'))
    change(copy)
    return copy
  }
  const faults = faultsOf(t, [
    changed((each) => (each.spec.template.spec.containers[0].readynessProbe = {})),
    changed((each) => (each.spec.template.spec.containers[0].lifecycle.preStop.sleep.seconds = '5')),
    changed((each) => (each.spec.template.spec.securityContext.runAsNonroot = true)),
  ])
  assert.equal(faults.length, 3, faults.join('\n'))
})

test('The manifests fit each other: labels, the budget, the grace, ports and files.', () => {
  const deployment = ofKind('Deployment')
  const pod = deployment.spec.template
  const [container] = pod.spec.containers
  for (const selector of [
    deployment.spec.selector.matchLabels,
    ofKind('Service').spec.selector,
    ofKind('PodDisruptionBudget').spec.selector.matchLabels,
  ]) {
    assert.deepEqual(selector, pod.metadata.labels)
  }
  assert.equal(ofKind('PodDisruptionBudget').spec.minAvailable, deployment.spec.replicas - 1)
  const { config } = readOptions(LOADED.serve.settings, []) as unknown as {
    config: { 'drain-time': number }
  }
  const wait = container.lifecycle.preStop.sleep.seconds + config['drain-time']
  assert.ok(pod.spec.terminationGracePeriodSeconds >= wait + 5)
  const ports = new Set<string>(container.ports.map(({ name }: { name: string }) => name))
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
    assert.ok(ports.has(container[probe].httpGet.port), probe)
  assert.ok(ports.has(ofKind('Service').spec.ports[0].targetPort))
  const builder = ofKind('CronJob').spec.jobTemplate.spec.template
  for (const { spec } of [pod, builder]) {
    const [{ securityContext, volumeMounts, resources }] = spec.containers
    assert.deepEqual(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    assert.ok(spec.securityContext.runAsNonRoot && resources.limits.memory !== undefined)
    assert.deepEqual(
      volumeMounts.map(({ name }: { name: string }) => name),
      spec.volumes.map(({ name }: { name: string }) => name),
    )
  }
  assert.deepEqual(
    readdirSync(KUBERNETES).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml'),
    [...KUSTOMIZATION.resources].toSorted(),
  )
  const { sources } = readConfiguration(join(KUBERNETES, 'groundswell.config.json'), {})
  assert.ok(sources.every(({ folder }) => folder.startsWith('/data/')))
})

/** Threads of a Node that starts with these options on some cores, as `taskset -c` takes them. */
function threadsOf(options: readonly string[], cores: string): number {
  const program = "process.stdout.write(String(require('node:fs').readdirSync('/proc/self/task').length))"
  const args = ['-c', cores, process.execPath, ...options, '-e', program]
  const { stdout, stderr } = spawnSync('taskset', args, { encoding: 'utf8', env: {} })
  assert.match(stdout, /^\d+$/, stderr)
  return Number(stdout)
}

test(
  'Unit, image, package and scripts start Node by one line, with one thread of V8 less than there are cores.',
  { skip: missingTool('taskset', 'util-linux') },
  () => {
    const options = shippedNodeOptions()
    assert.match(options.join(' '), /^--v8-pool-size=\d+ --single-threaded-gc$/)
    const packageFile = readFileSync(join(ROOT, 'package.json'), 'utf8')
    for (const [text, line] of [
      [packageFile, /^    "groundswell": "bin\/groundswell"$/m],
      [
        packageFile,
        /^    "start": "exec tools\/groundswell run",\n    "snapshot": "exec tools\/groundswell /m,
      ],
      [readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8'), /^ENTRYPOINT \["\S+\/\.bin\/groundswell"\]$/m],
      [readFileSync(UNIT, 'utf8'), /^ExecStart=\S+\/\.bin\/groundswell /m],
      [readFileSync(join(ROOT, 'tools', 'groundswell'), 'utf8'), / && exec "\$here\/..\/bin\/groundswell"/],
    ] as const)
      assert.match(text, line)

    const [, cores] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))!
    const [first] = cores.split(/[,-]/, 1)
    assert.equal(threadsOf(options, first), threadsOf(['--v8-pool-size=1'], first))
    const own = Math.max(1, availableParallelism() - 1)
    assert.equal(threadsOf(options, cores), threadsOf([`--v8-pool-size=${own}`], cores))
  },
)

/** Checks a command line of ours with its variables. @throws UsageError */
function understand(words: readonly string[], variables: { readonly [name: string]: string }): void {
  const [name, ...rest] = words
  assert.ok(Object.hasOwn(LOADED, name), name)
  const { settings } = LOADED[name]
  const known = new Set(Object.keys(settings).map(variableOf))
  const unknown = Object.keys(variables).filter(
    (variable) => variable.startsWith('GROUNDSWELL_') && !known.has(variable),
  )
  assert.deepEqual(unknown, [], name)
  withVariables(variables, () => readOptions(settings, rest))
}

test('What the files say to groundswell is understood: commands, options and variables.', () => {
  const values = (env: { name: string; value?: string }[]): { [name: string]: string } =>
    // What comes from elsewhere is the location of a bucket.
    Object.fromEntries(env.map(({ name, value }) => [name, value ?? 's3://waves/snapshots']))
  for (const pod of [ofKind('Deployment').spec.template, ofKind('CronJob').spec.jobTemplate.spec.template]) {
    const [{ args, env }] = pod.spec.containers
    understand(args, values(env))
  }
  const compose = parse(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'))
  const { command, environment, read_only, cap_drop } = compose.services.groundswell
  assert.deepEqual([read_only, cap_drop], [true, ['ALL']])
  understand(command, { ...environment, GROUNDSWELL_TRUSTED_PROXY: '' })

  const unit = readFileSync(UNIT, 'utf8')
  const [, line] = /^ExecStart=\S+\/groundswell (.+)$/m.exec(unit)!
  const [, variables] = /^Environment=(.+)$/m.exec(unit)!
  understand(line.split(' '), Object.fromEntries(variables.split(' ').map((each) => each.split('='))))

  const dockerfile = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')
  const set = Object.fromEntries(
    [...dockerfile.matchAll(/\b(GROUNDSWELL_\w+)=([^\s\\]+)(?: \\)?$/gm)]
      .slice(-2)
      .map(([, name, value]) => [name, value]),
  )
  assert.deepEqual(Object.keys(set), ['GROUNDSWELL_DATA', 'GROUNDSWELL_HOST'])
  const words = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^(?: *)${instruction} (\\[.*\\])$`, 'm').exec(dockerfile)![1]) as string[]
  understand(words('CMD').at(0) === 'run' ? words('CMD') : ['run'], set)
  assert.match(dockerfile, /CMD \["node", "\/app\/node_modules\/groundswell\/dist\/cli\.js", "health"\]/)
  understand(['health'], {})
  assert.match(dockerfile, /^USER 1000:1000$/m)
  assert.ok(words('ENTRYPOINT').includes('/app/node_modules/.bin/groundswell'))
})

test(
  'The unit of systemd is valid, and exposed as little as the page about installing says.',
  { skip: missingTool('systemd-analyze', 'systemd') },
  (t) => {
    const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    // The package is not installed.
    const unit = join(temporaryFolder(t), 'groundswell.service')
    writeFileSync(unit, readFileSync(UNIT, 'utf8').replace(/(?<=^ExecStart=)\S+/m, process.execPath))
    const { status, stderr } = analyze('verify', unit)
    assert.deepEqual(
      [status, stderr.split('\n').filter((line) => line.includes('groundswell.service'))],
      [0, []],
    )
    const { stdout } = analyze('security', '--offline=true', UNIT)
    const exposure = Number(/exposure level for groundswell\.service: ([\d.]+)/.exec(stdout)?.[1])
    const page = readFileSync(join(ROOT, 'docs', 'install.md'), 'utf8')
    const said = Number(/exposure of (\d+\.\d+)/.exec(page)?.[1])
    // Other versions look at more or fewer things.
    assert.ok(Math.abs(exposure - said) <= 0.3, `${exposure}, the page says ${said}`)
  },
)
