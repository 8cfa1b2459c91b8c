/** `keys …`: issues, lists, rotates and revokes keys, and sets their quotas. */
import {
  DEFAULT_QUOTA,
  findKey,
  issued,
  MAX_QUOTA,
  revoked,
  rotated,
  withQuota,
  type IssuedKey,
  type KeyRecord,
} from '../access/key-records.ts'
import { fileStore, type KeyStore } from '../access/keys-file.ts'
import { isAddress, KeysObject } from '../access/keys-object.ts'
import { data, keys } from '../server/serve-settings.ts'
import { flag, type Setting, text, wholeNumber, UsageError } from '../server/setting.ts'
import { counted } from '../system/text.ts'
import { command, type Command } from './command.ts'
import { makeDataFolder } from './data-folder.ts'
import { clock, environment, print, random } from './surroundings.ts'

export const KEYS_FILE_SETTINGS = {
  data,
  keys,
  json: flag('print one line of JSON'),
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

/** Opens where the keys are kept, for one command. */
async function withStore<T>(place: string, use: (store: KeyStore) => Promise<T>): Promise<T> {
  const store = isAddress(place) ? new KeysObject(place, { environment, random }) : fileStore(place)
  try {
    return await use(store)
  } finally {
    store.close()
  }
}

export const COMMANDS: { readonly [name: string]: Command } = {
  'keys issue': command({
    settings: ISSUE_SETTINGS,
    run: async (config) => {
      const { data, owner, quota, json } = config
      makeDataFolder(data)
      printIssued(
        await withStore(config.keys, (store) =>
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
      withStore(config.keys, async (store) => {
        for (const line of keyLines(store, await store.all(), config.json)) print(line)
      }),
  }),
  'keys show': command({
    takes: '<ID>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: (config, [id]) =>
      withStore(config.keys, async (store) => {
        for (const line of keyLines(store, [findKey(await store.all(), id)], config.json)) print(line)
      }),
  }),
  'keys rotate': command({
    takes: '<ID>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async (config, [id]) =>
      printIssued(
        await withStore(config.keys, (store) => store.change((records) => rotated(records, id, clock()))),
        config.json,
      ),
  }),
  'keys revoke': command({
    takes: '<ID>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async (config, [id]) => {
      const { owner } = await withStore(config.keys, (store) =>
        store.change((records) => revoked(records, id)),
      )
      print(config.json ? JSON.stringify({ id, owner, revoked: true }) : `Key ${id} of ${owner} is revoked.`)
    },
  }),
  'keys set-quota': command({
    takes: '<ID> <N>',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async (config, [id, text]) => {
      const wanted = parseQuota(text)
      const { owner, quota } = await withStore(config.keys, (store) =>
        store.change((records) => withQuota(records, id, wanted)),
      )
      print(
        config.json
          ? JSON.stringify({ id, owner, quota })
          : `Key ${id} of ${owner} now has ${counted(quota, 'request')} per hour.`,
      )
    },
  }),
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

/** Keys with this hour's calls as last saved; without them for an address, where each server has its own. */
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
