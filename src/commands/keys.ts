/** `keys …`: issues, lists, rotates and revokes keys, sets quotas, and moves keys to files or Redis. */
import { existsSync } from 'node:fs'
import {
  DEFAULT_QUOTA,
  findKey,
  issued,
  KeyCommandError,
  MAX_QUOTA,
  merged,
  rotated,
  withQuota,
  type IssuedKey,
  type KeyRecord,
} from '../access/key-records.ts'
import { changeKeys, fileStore, KeysFileError, type KeyStore, loadKeys } from '../access/keys-file.ts'
import { KeysInRedis } from '../access/keys-redis.ts'
import { openRedis, type RedisConfig } from '../server/redis-clients.ts'
import { data, keys, REDIS_SETTINGS } from '../server/serve-settings.ts'
import { flag, type Setting, text, wholeNumber, UsageError } from '../server/setting.ts'
import { isAddress, parseAddress } from '../access/redis/redis-address.ts'
import { counted } from '../system/text.ts'
import { command, type Command } from './command.ts'
import { makeDataFolder } from './data-folder.ts'
import { clock, note, print, random } from './surroundings.ts'

export const KEYS_FILE_SETTINGS = {
  data,
  keys,
  ...REDIS_SETTINGS,
  json: flag('print one line of JSON'),
} as const

const IMPORT_SETTINGS = {
  ...KEYS_FILE_SETTINGS,
  replace: flag('take exactly the imported keys: others stop working, and those that differ are replaced'),
} as const

export const ISSUE_SETTINGS = {
  ...KEYS_FILE_SETTINGS,
  owner: {
    placeholder: 'NAME',
    help: 'the owner of the key; an owner has one',
    required: true,
    parse: text,
  } satisfies Setting<string>,
  quota: {
    placeholder: 'N',
    help: 'requests per clock hour',
    default: String(DEFAULT_QUOTA),
    parse: wholeNumber(1, MAX_QUOTA),
  } satisfies Setting<number>,
} as const

type StoreConfig = RedisConfig & { readonly keys: string }

/** Opens where the keys are kept, for one command. */
async function withStore<T>(config: StoreConfig, use: (store: KeyStore) => Promise<T>): Promise<T> {
  const store = isAddress(config.keys)
    ? // The command itself reports a fault of the connection, once.
      new KeysInRedis(openRedis(config.keys, config, { log: () => {}, clock, random }), (message) =>
        note(message, 'warning'),
      )
    : fileStore(config.keys)
  try {
    return await use(store)
  } finally {
    store.close()
  }
}

export const KEYS_COMMANDS: { readonly [name: string]: Command } = {
  'keys issue': command({
    settings: ISSUE_SETTINGS,
    run: async (config) => {
      const { data, owner, quota, json } = config
      makeDataFolder(data)
      printIssued(
        await withStore(config, (store) =>
          store.change((records) => issued(records, { owner, quota, now: clock() })),
        ),
        json,
      )
    },
  }),
  'keys list': command({
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: (config) =>
      withStore(config, async (store) => {
        for (const line of keyLines(store, await store.all(), config.json)) print(line)
      }),
  }),
  'keys show': command({
    takes: '<ID>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: (config, [id]) =>
      withStore(config, async (store) => {
        for (const line of keyLines(store, [findKey(await store.all(), id)], config.json)) print(line)
      }),
  }),
  'keys rotate': command({
    takes: '<ID>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async (config, [id]) =>
      printIssued(
        await withStore(config, (store) => store.change((records) => rotated(records, id, clock()))),
        config.json,
      ),
  }),
  'keys revoke': command({
    takes: '<ID>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async (config, [id]) => {
      const gone = await withStore(config, (store) => store.revoke(id))
      const owner = gone?.owner ?? null
      const whose = owner === null ? '' : ` of ${owner}`
      print(config.json ? JSON.stringify({ id, owner, revoked: true }) : `Key ${id}${whose} is revoked.`)
    },
  }),
  'keys set-quota': command({
    takes: '<ID> <N>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async (config, [id, text]) => {
      const wanted = parseQuota(text)
      const { owner, quota } = await withStore(config, (store) =>
        store.change((records) => withQuota(records, id, wanted)),
      )
      print(
        config.json
          ? JSON.stringify({ id, owner, quota })
          : `Key ${id} of ${owner} now has ${counted(quota, 'request')} per hour.`,
      )
    },
  }),
  'keys import': command({
    takes: '<FILE>',
    settings: IMPORT_SETTINGS,
    run: importKeys,
  }),
  'keys upgrade': command({
    settings: KEYS_FILE_SETTINGS,
    run: upgradeKeys,
  }),
  'keys export': command({
    takes: '<FILE>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: exportKeys,
  }),
}

async function importKeys(
  config: StoreConfig & { readonly replace: boolean; readonly json: boolean; readonly data: string | null },
  [path]: string[],
): Promise<void> {
  const { keys, replace, json, data } = config
  if (!existsSync(path)) throw new KeysFileError(`${path}: there is no such file`)
  const imported = loadKeys(path)
  // An empty file in place of the right one would end every key.
  if (imported.length === 0) throw new KeyCommandError(`${path}: holds no keys`)
  makeDataFolder(data)
  const counts = await withStore(config, async (store) => {
    let done = { added: 0, changed: 0, removed: 0, same: 0 }
    await store.replaceAll((there) => {
      const { records, counts } = merged(there, imported, replace)
      done = counts
      return records
    })
    return done
  })
  const { added, changed, removed, same } = counts
  print(
    json
      ? JSON.stringify(counts)
      : `Imported into ${shownPlace(keys)}: ${added} added, ${changed} replaced, ${removed} removed, ${same} unchanged.`,
  )
}

/** Takes over keys in Redis in the layout of an earlier version. */
async function upgradeKeys(config: StoreConfig & { readonly json: boolean }): Promise<void> {
  const upgraded = await withStore(config, (store) => {
    if (store instanceof KeysInRedis) return store.upgrade()
    throw new UsageError('--keys: expected an address such as redis://host:6379/0: files need no upgrade')
  })
  const place = shownPlace(config.keys)
  print(
    config.json
      ? JSON.stringify({ upgraded: upgraded ?? 0 })
      : upgraded === null
        ? `${place} holds no keys in an earlier layout.`
        : `${counted(upgraded, 'key')} in ${place} now in the layout of this version.`,
  )
}

async function exportKeys(config: StoreConfig & { readonly json: boolean }, [path]: string[]): Promise<void> {
  if (existsSync(path)) throw new KeysFileError(`${path}: is there already; give the name of a new file`)
  const records = await withStore(config, (store) => store.all())
  changeKeys(path, () => [records, undefined])
  print(
    config.json
      ? JSON.stringify({ keys: records.length })
      : `Exported ${counted(records.length, 'key')} from ${shownPlace(config.keys)} to ${path}.`,
  )
}

/** A file's path, or an address without user and password. */
function shownPlace(keys: string): string {
  return isAddress(keys) ? parseAddress(keys).place : keys
}

/** The N of `keys set-quota ID N`. @throws UsageError */
export function parseQuota(text: string): number {
  try {
    return ISSUE_SETTINGS.quota.parse([text])
  } catch (error) {
    throw new UsageError(`N: expected ${(error as Error).message}`)
  }
}

function printIssued({ record: { id, owner, quota }, key }: IssuedKey, json: boolean): void {
  if (json) print(JSON.stringify({ id, key, owner, quota }))
  else {
    print(`Key ${id} for ${owner}, ${counted(quota, 'request')} per hour. It is shown only once:`)
    print(key)
  }
}

/** Keys with this hour's calls as last saved; without them for Redis, where each server has its own. */
function keyLines(store: KeyStore, records: readonly KeyRecord[], json: boolean): string[] {
  const counts = store.used(clock())
  const rows = records.map(({ id, owner, quota, created, rotated }) => ({
    id,
    owner,
    quota,
    used: counts === null ? null : (counts.get(id) ?? 0),
    created,
    rotated: rotated ?? null,
  }))
  if (json) return rows.map((row) => JSON.stringify(row))
  if (rows.length === 0) return ['no keys']
  return rows.map(({ id, owner, quota, used, created, rotated }) => {
    const calls = used === null ? `${quota} per hour` : `${used} of ${quota} used this hour`
    return `${id}  ${calls}  issued ${created}${rotated === null ? '' : `, rotated ${rotated}`}  ${owner}`
  })
}
