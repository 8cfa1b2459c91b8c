/**
 * The commands by their names, in the order of `--help`. Each is loaded when it is asked for: all of them
 * together take ten times as long as Node itself does to start.
 */
import type { Command, Service } from './command.ts'

interface NamedCommand {
  readonly summary: string
  readonly load: () => Promise<Command | Service>
}

export const COMMANDS: { readonly [name: string]: NamedCommand } = {
  build: {
    summary: 'fetch what the configuration names, build a snapshot from source files and publish it',
    load: async () => (await import('./build.ts')).build,
  },
  publish: {
    summary: 'put the snapshot of a folder into a bucket, s3://BUCKET/PREFIX, for replicas to mirror',
    load: async () => (await import('./publishing.ts')).publish,
  },
  serve: {
    summary: 'serve the snapshot of a folder, or of a bucket or web server that it mirrors',
    load: async () => (await import('./serve.ts')).serve,
  },
  run: {
    summary: 'build a snapshot and issue a key where there is none, then serve and build on schedule',
    load: async () => (await import('./run.ts')).run,
  },
  init: {
    summary: 'write a configuration of sources with comments, to begin with',
    load: async () => (await import('./init.ts')).init,
  },
  doctor: {
    summary: 'look for anything that would prevent a start, and say what to do about it',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  health: {
    summary: 'ask the server on this machine whether it is ready; the exit code is 0 when it is',
    load: async () => (await import('./health.ts')).health,
  },
  inspect: {
    summary: 'show what a snapshot holds',
    load: async () => (await import('./inspect.ts')).inspect,
  },
  check: {
    summary: 'read every part that a kept snapshot names, and say what is wrong',
    load: async () => (await import('./check.ts')).check,
  },
  report: {
    summary: 'print the report of the newest build: what was read, fetched, refused and found suspect',
    load: async () => (await import('./report.ts')).report,
  },
  list: {
    summary: 'list the snapshots that a folder keeps',
    load: async () => (await import('./list.ts')).list,
  },
  diff: {
    summary: 'show how the kept snapshot B differs from the kept snapshot A',
    load: async () => (await import('./diff.ts')).diff,
  },
  export: {
    summary: 'write the readings of a snapshot as files, one for each network and month, and all buoys',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  pin: { summary: 'keep a snapshot until it is unpinned', load: async () => (await import('./pin.ts')).pin },
  unpin: {
    summary: 'let builds remove a pinned snapshot when it is old enough',
    load: async () => (await import('./pin.ts')).unpin,
  },
  rollback: {
    summary: 'publish the snapshot before the current one again, and hold back later ones',
    load: async () => (await import('./rollback.ts')).rollback,
  },
  resume: {
    summary: 'end the hold of a rollback: publish the newest kept snapshot, and later ones as they are built',
    load: async () => (await import('./rollback.ts')).resume,
  },
  'keys issue': {
    summary: 'issue a key; it is shown once',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys issue'],
  },
  'keys list': {
    summary: "list keys with this hour's use",
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys list'],
  },
  'keys show': {
    summary: 'show one key',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys show'],
  },
  'keys rotate': {
    summary:
      'replace a key: the old one stops working within a second (two, where keys are in Redis); its id and usage are kept',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys rotate'],
  },
  'keys revoke': {
    summary: 'end a key within a second (two, where keys are in Redis)',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys revoke'],
  },
  'keys set-quota': {
    summary: 'change the hourly quota of a key',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys set-quota'],
  },
  'keys import': {
    summary: 'take over the keys of a keys file, as into Redis',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys import'],
  },
  'keys upgrade': {
    summary: 'take over keys in Redis that an earlier version keeps there in another layout',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys upgrade'],
  },
  'keys export': {
    summary: 'write all keys to a new keys file, as from Redis',
    load: async () => (await import('./keys.ts')).KEYS_COMMANDS['keys export'],
  },
}
