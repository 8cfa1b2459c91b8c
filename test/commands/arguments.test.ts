/** Options, variables and defaults: what is taken, what is refused, and who wins. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { describe, readOptions, variableOf, type CommandLine } from '../../src/commands/command.ts'
import { BUILD_SETTINGS, RUN_SETTINGS } from '../../src/commands/build-settings.ts'
import { ISSUE_SETTINGS, KEYS_FILE_SETTINGS } from '../../src/commands/keys.ts'
import { SERVE_SETTINGS } from '../../src/server/serve-settings.ts'
import { type Settings, UsageError } from '../../src/server/setting.ts'
import { LOADED, withVariables } from './loaded.ts'
import { fieldOf } from '../fields.ts'

/** The options of a command line, with these variables in the environment. */
const read = <S extends Settings>(
  settings: S,
  argv: readonly string[],
  environment: { [name: string]: string } = {},
): CommandLine<S> => withVariables(environment, () => readOptions(settings, argv))

/** What has to be given for a command to be complete. */
const REQUIRED: { [option: string]: string } = { owner: 'somebody' }

function required(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([option, setting]) =>
    setting.required === true ? [`--${option}=${REQUIRED[option]}`] : [],
  )
}

function valueOf(settings: Settings, option: string, text: string): unknown {
  const others = required(settings).filter((argument) => !argument.startsWith(`--${option}=`))
  return read(settings, [...others, `--${option}=${text}`]).config[option]
}

function refusal(settings: Settings, argv: string[], environment: { [name: string]: string } = {}): string {
  try {
    read(settings, argv, environment)
  } catch (error) {
    assert.ok(error instanceof UsageError, String(error))
    assert.ok(!error.message.includes('\n'), error.message)
    return error.message
  }
  assert.fail(`${argv.join(' ')} was not refused`)
}

const ALL: { [command: string]: Settings } = {
  build: BUILD_SETTINGS,
  serve: SERVE_SETTINGS,
  run: RUN_SETTINGS,
  'keys issue': ISSUE_SETTINGS,
  'keys list': KEYS_FILE_SETTINGS,
}

const MCP_SETTINGS = LOADED['mcp'].settings

const GOOD: [settings: Settings, option: string, text: string, value: unknown][] = [
  [SERVE_SETTINGS, 'port', '65535', 65_535],
  [SERVE_SETTINGS, 'host', 'fe80::1%eth0', 'fe80::1%eth0'],
  [SERVE_SETTINGS, 'base-path', '/api/v2', '/api/v2'],
  [SERVE_SETTINGS, 'active-within', '30m', 1800],
  [SERVE_SETTINGS, 'active-within', '7d', 604_800],
  [SERVE_SETTINGS, 'anonymous-quota', '0', 0],
  [SERVE_SETTINGS, 'contact', 'Keys: ask the harbour office', 'Keys: ask the harbour office'],
  [SERVE_SETTINGS, 'trusted-proxy', '10.0.0.0/8', ['10.0.0.0/8']],
  [SERVE_SETTINGS, 'title', 'Harbour of Anglet', 'Harbour of Anglet'],
  [SERVE_SETTINGS, 'title', '', null],
  [SERVE_SETTINGS, 'accent', '#8A1C3C', '#8a1c3c'],
  [SERVE_SETTINGS, 'logo', '', null],
  [SERVE_SETTINGS, 'map-style', '', null],
  [SERVE_SETTINGS, 'map-style', '/s.json', { address: '/s.json', origins: [] }],
  [SERVE_SETTINGS, 'public-url', 'https://buoys.example:8443', 'https://buoys.example:8443'],
  [SERVE_SETTINGS, 'public-url', '', null],
  [SERVE_SETTINGS, 'embed-from', 'http://localhost:3000', ['http://localhost:3000']],
  [SERVE_SETTINGS, 'answer-cache', '0', 0],
  [SERVE_SETTINGS, 'answer-cache', '2KB', 2000],
  [SERVE_SETTINGS, 'answer-cache', '64MiB', 67_108_864],
  [SERVE_SETTINGS, 'admin-port', 'off', 'off'],
  [SERVE_SETTINGS, 'engine', 'node', 'node'],
  [BUILD_SETTINGS, 'source', 'csv:a:b', [{ kind: 'csv', argument: 'a:b' }]],
  [BUILD_SETTINGS, 'config', 'a b.json', 'a b.json'],
  [BUILD_SETTINGS, 'config', '', null],
  [BUILD_SETTINGS, 'as-of', '', null],
  [BUILD_SETTINGS, 'as-of', '2026-03-27T10:00:00.9+01:00', Date.parse('2026-03-27T09:00:00Z') / 1000],
  [BUILD_SETTINGS, 'max-bad', '0%', 0],
  [BUILD_SETTINGS, 'max-bad', '2.5%', 0.025],
  [RUN_SETTINGS, 'every', '0', 0],
  [RUN_SETTINGS, 'build-timeout', '20d', 1_728_000],
  [MCP_SETTINGS, 'url', 'http://host:81/v2/', 'http://host:81/v2'],
  [MCP_SETTINGS, 'url', 'http://host/api', 'http://host/api'],
  [ISSUE_SETTINGS, 'owner', 'Ada Lovelace', 'Ada Lovelace'],
]

test('Every setting takes its values in the forms that its help names.', () => {
  for (const [settings, option, text, value] of GOOD) {
    assert.deepEqual(valueOf(settings, option, text), value, `--${option}=${text}`)
  }
})

const notNumbers = ['', ' 1', '1 ', '+1', '1.0', '1e3', '0x1', 'one', '9'.repeat(16)]
const WRONG: [settings: Settings, option: string, texts: string[]][] = [
  [SERVE_SETTINGS, 'port', [...notNumbers, '-1', '65536']],
  [SERVE_SETTINGS, 'host', ['', 'localhost:8080', 'http://localhost', '0.0.0.0/0', '[::1]', '[::1]:80']],
  [SERVE_SETTINGS, 'snapshots', ['']],
  [SERVE_SETTINGS, 'workers', [...notNumbers, '0', '65']],
  [
    SERVE_SETTINGS,
    'base-path',
    ['', 'v2', '/', '/v2/', '//v2', '/v 2', '/v2?x', '/v2\r\nX: y', '/é', '/a/b/c/d/e/f/g/h/i'],
  ],
  [
    SERVE_SETTINGS,
    'active-within',
    ['', '0h', '24', 'h', '24 h', '1w', '-1h', '1.5h', '24H', '9999999h', '36501d'],
  ],
  [SERVE_SETTINGS, 'anonymous-quota', [...notNumbers, '-1']],
  [
    SERVE_SETTINGS,
    'contact',
    ['javascript:alert(1)', 'JavaScript:x', 'data:text/html,x', 'ftp://a.example', 'https:x', 'two\nlines'],
  ],
  [SERVE_SETTINGS, 'title', [' ', 'two\nlines', 'x'.repeat(61)]],
  [SERVE_SETTINGS, 'accent', ['red', '#fff', '0a6a8f', '#0a6a8f;', 'url(x)', '#0a6a8g']],
  [SERVE_SETTINGS, 'logo', ['no-such-file.png', 'package.json', '.']],
  ...['public-url', 'embed-from'].map((option): (typeof WRONG)[number] => [
    SERVE_SETTINGS,
    option,
    [
      'blog.example',
      'https://blog.example/',
      'https://blog.example/path',
      'https://blog.example:443',
      'https://BLOG.example',
      'https://me:secret@blog.example',
      "https://blog.example;script-src'unsafe-inline'",
      "https://blog.example 'self'",
      'https://*.example',
    ],
  ]),
  [
    SERVE_SETTINGS,
    'map-style',
    [
      'http://tiles.example/s.json',
      '//tiles.example/s.json',
      'javascript:alert(1)',
      'https://user:secret@tiles.example/s.json',
      "https://tiles.example;script-src'unsafe-inline'/s.json",
      'https://*/s.json',
      '/a b',
      '/"onload="',
      `/${'a'.repeat(600)}`,
    ],
  ],
  [SERVE_SETTINGS, 'trusted-proxy', ['10.0.0.0/33', 'proxy.example', '300.1.1.1', '::/129']],
  [
    SERVE_SETTINGS,
    'answer-cache',
    ['', '1 MB', 'MiB', '1.5GiB', '-1', '1TB', '64mib', '5GiB', '999999999999GiB'],
  ],
  [SERVE_SETTINGS, 'max-memory', ['', '1048577GiB', '999999999999GiB']],
  [SERVE_SETTINGS, 'drain-time', ['25h']],
  [RUN_SETTINGS, 'every', ['', '30', '367d', '999999d']],
  [SERVE_SETTINGS, 'admin-port', [...notNumbers, 'on', '65536']],
  [SERVE_SETTINGS, 'engine', ['', 'fastify', 'UWS']],
  [BUILD_SETTINGS, 'as-of', ['now', '2026-02-30', '1969-12-31', '2106-02-08', '1774602000']],
  [BUILD_SETTINGS, 'max-bad', ['', '10', '0.1', '101%', '-1%', '%', '10 %']],
  // Of more than 24.8 days a timer makes a millisecond: the build ends at once, the source is asked without a
  // pause.
  [RUN_SETTINGS, 'build-timeout', ['', '0', '0s', '21d', '30d', '481h', '999999d']],
  [SERVE_SETTINGS, 'poll', ['', '0', '0s', '21d', '30d', '999999d']],
  [MCP_SETTINGS, 'url', ['ftp://host/', 'http://user:word@host/']],
  [MCP_SETTINGS, 'key', ['two words']],
  [ISSUE_SETTINGS, 'quota', [...notNumbers, '0']],
  [ISSUE_SETTINGS, 'owner', ['']],
]

test('Every wrong value is refused in one line that names the option and what is expected.', () => {
  for (const [settings, option, texts] of WRONG) {
    for (const text of texts) {
      const others = required(settings).filter((argument) => !argument.startsWith(`--${option}=`))
      const message = refusal(settings, [...others, `--${option}=${text}`])
      assert.match(message, new RegExp(`^--${option}: expected `), `--${option}=${JSON.stringify(text)}`)
    }
  }
  assert.match(
    refusal(SERVE_SETTINGS, ['--trusted-proxy=1.2.3.4/40']),
    /expected addresses or CIDRs .*1\.2\.3\.4\/40/,
  )
  assert.match(refusal(RUN_SETTINGS, ['--build-timeout=30d']), /30m, 24h or 7d, at most 20d$/)
  // Secrets are not repeated.
  assert.doesNotMatch(refusal(MCP_SETTINGS, ['--url=http://user:word@host/']), /word@/)
  assert.doesNotMatch(refusal(MCP_SETTINGS, ['--key', 'two words']), /two words/)
})

test('An option without its value, with one too many or given twice is refused by name.', () => {
  assert.match(refusal(SERVE_SETTINGS, ['--port', '--host', '::1']), /^--port needs a value$/)
  assert.match(refusal(ISSUE_SETTINGS, ['--owner=a', '--no-json']), /'--no-json'/)
  assert.match(refusal(SERVE_SETTINGS, ['--port=1', '--port=1']), /^--port is given more than once/)
  assert.match(refusal(ISSUE_SETTINGS, []), /^--owner is required/)
  assert.equal(valueOf(ISSUE_SETTINGS, 'owner', '-5'), '-5')
})

test('Settings that may be given several times keep their order.', () => {
  const { config } = read(BUILD_SETTINGS, ['--source=demo', '--source', 'csv:x y'])
  assert.deepEqual(config.source, [
    { kind: 'demo', argument: '' },
    { kind: 'csv', argument: 'x y' },
  ])
  const style = ['--map-style=https://a.example/s.json', '--map-style=https://b.example']
  assert.deepEqual(read(SERVE_SETTINGS, style).config['map-style'], {
    address: 'https://a.example/s.json',
    origins: ['https://a.example', 'https://b.example'],
  })
  for (const server of ['https://b.example/', 'https://b.example/path', '*', "'unsafe-eval'", 'b.example']) {
    assert.match(refusal(SERVE_SETTINGS, [style[0], `--map-style=${server}`]), /^--map-style: expected/)
  }
})

test('An option wins over its variable, and a variable over the default.', () => {
  assert.equal(variableOf('base-path'), 'GROUNDSWELL_BASE_PATH')
  const environment = { GROUNDSWELL_PORT: '81', GROUNDSWELL_BASE_PATH: '/x', groundswell_host: 'no' }
  const { config } = read(SERVE_SETTINGS, ['--port=80'], environment)
  assert.deepEqual([config.port, config['base-path'], config.host], [80, '/x', '127.0.0.1'])
  assert.ok(Object.isFrozen(config))
  // A fault names the variable, unless an option counts before it.
  const wrong = { GROUNDSWELL_PORT: 'eighty' }
  assert.match(
    refusal(SERVE_SETTINGS, [], wrong),
    /^GROUNDSWELL_PORT: expected a whole number from 0 to 65535/,
  )
  assert.equal(read(SERVE_SETTINGS, ['--port=80'], wrong).config.port, 80)
})

test('Where platforms set PORT and HOST, a server listens there, unless its own option or variable says otherwise.', () => {
  const at = (argv: string[], environment: { [name: string]: string }): unknown[] => {
    const { config } = read(SERVE_SETTINGS, argv, environment)
    return [config.port, config.host]
  }
  const usual = { PORT: '3000', HOST: '0.0.0.0' }
  assert.deepEqual(at([], usual), [3000, '0.0.0.0'])
  assert.deepEqual(at([], { ...usual, GROUNDSWELL_PORT: '81', GROUNDSWELL_HOST: '' }), [81, '0.0.0.0'])
  assert.deepEqual(at(['--port=80', '--host=::1'], usual), [80, '::1'])
  assert.match(refusal(SERVE_SETTINGS, [], { PORT: 'tcp://1.2.3.4:80' }), /^PORT: expected a whole number/)
  assert.match(refusal(SERVE_SETTINGS, [], { HOST: 'http://me' }), /^HOST: expected an address/)
})

test('A variable holds several values between blanks, and an empty one is as if it were not set.', () => {
  const { config } = read(BUILD_SETTINGS, [], { GROUNDSWELL_SOURCE: ' demo  csv:x\tndbc:y ' })
  assert.deepEqual(fieldOf(config.source, 'kind'), ['demo', 'csv', 'ndbc'])
  const empty = Object.fromEntries(Object.keys(SERVE_SETTINGS).map((option) => [variableOf(option), '']))
  assert.deepEqual(read(SERVE_SETTINGS, [], empty), read(SERVE_SETTINGS, []))
  assert.deepEqual(read(BUILD_SETTINGS, [], { GROUNDSWELL_SOURCE: '' }).config.source, [])
  assert.match(refusal(ISSUE_SETTINGS, [], { GROUNDSWELL_OWNER: '' }), /^--owner is required/)
})

test('A switch is on when it is given or its variable says so.', () => {
  const json = (argv: string[], variable?: string): unknown =>
    read(KEYS_FILE_SETTINGS, argv, variable === undefined ? {} : { GROUNDSWELL_JSON: variable }).config.json
  assert.deepEqual([json([]), json(['--json'])], [false, true])
  assert.deepEqual(
    ['true', '1', 'false', '0', ''].map((word) => json([], word)),
    [true, true, false, false, false],
  )
  assert.equal(json(['--json'], 'false'), true)
  assert.match(
    refusal(KEYS_FILE_SETTINGS, [], { GROUNDSWELL_JSON: 'no' }),
    /^GROUNDSWELL_JSON: expected true, false/,
  )
})

test('Help names every option with its meaning, default and variable.', () => {
  for (const [command, settings] of Object.entries(ALL)) {
    const parser = new Command().configureOutput({ getOutHelpWidth: () => 1000 })
    describe(parser, { settings })
    const lines = parser.helpInformation().split('\n')
    for (const [option, setting] of Object.entries(settings)) {
      const line = lines.find((each) => new RegExp(`^  --${option}[ <]`).test(each)) ?? assert.fail(option)
      assert.ok(line.includes(setting.help) && line.includes(variableOf(option)), `${command} ${option}`)
      if (setting.default) assert.ok(line.includes(`default ${setting.default}`))
      assert.equal(line.includes('(required'), setting.required === true)
    }
    // Every default is itself a value that is taken.
    read(settings, required(settings))
  }
})
