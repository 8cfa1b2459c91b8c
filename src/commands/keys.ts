/** `keys …`: issues, lists, rotates and revokes keys, and sets their quotas. */
import {
  DEFAULT_QUOTA,
  issued,
  MAX_QUOTA,
  revoked,
  rotated,
  withQuota,
  type Changed,
  type IssuedKey,
  type KeyRecord,
} from '../access/key-records.ts'
import { fileStore, type KeyStore } from '../access/keys-file.ts'
import { isAddress, keysObject } from '../access/keys-object.ts'
import { data, keys } from '../server/serve-settings.ts'
import {
  type ConfigOf,
  flag,
  type Setting,
  setting,
  text,
  wholeNumber,
  UsageError,
} from '../server/setting.ts'
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
  quota: setting('N', 'requests per clock hour', String(DEFAULT_QUOTA), wholeNumber(1, MAX_QUOTA)),
} as const

/** Opens where the keys are kept, for one command. */
async function withStore<T>(place: string, use: (store: KeyStore) => Promise<T>): Promise<T> {
  const store = isAddress(place) ? keysObject(place, { environment, random }) : fileStore(place)
  try {
    return await use(store)
  } finally {
    store.close()
  }
}

type KeysConfig = ConfigOf<typeof KEYS_FILE_SETTINGS>

/** A command that changes the key with an ID, and prints the result. */
const changing = <Result>(
  takes: string,
  change: (records: readonly KeyRecord[], positionals: string[]) => Changed<Result>,
  told: (result: Result, config: KeysConfig) => string,
): Command =>
  command({
    takes,
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async (config, positionals) => {
      const result = await withStore(config.keys, (store) =>
        store.change((records) => change(records, positionals)),
      )
      print(told(result, config))
    },
  })

export const COMMANDS: { readonly [name: string]: Command } = {
  'keys issue': command({
    settings: ISSUE_SETTINGS,
    run: async (config) => {
      makeDataFolder(config.data)
      const { owner, quota } = config
      const key = await withStore(config.keys, (store) =>
        store.change((records) => issued(records, { owner, quota, now: clock() })),
      )
      print(issuedText(key, config))
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
  'keys rotate': changing('<ID>', (records, [id]) => rotated(records, id, clock()), issuedText),
  'keys revoke': changing(
    '<ID-OR-OWNER>',
    (records, [name]) => revoked(records, name),
    ({ id, owner }, { json }) =>
      json ? JSON.stringify({ id, owner, revoked: true }) : `Key ${id} of ${owner} is revoked.`,
  ),
  'keys set-quota': changing(
    '<ID> <N>',
    (records, [id, text]) => withQuota(records, id, parseQuota(text)),
    ({ id, owner, quota }, { json }) =>
      json
        ? JSON.stringify({ id, owner, quota })
        : `Key ${id} of ${owner} now has ${counted(quota, 'request')} per hour.`,
  ),
}

/** The N of `keys set-quota ID N`. @throws UsageError */
function parseQuota(text: string): number {
  try {
    return ISSUE_SETTINGS.quota.parse([text])
  } catch (error) {
    throw new UsageError(`N: expected ${(error as Error).message}`)
  }
}

function issuedText({ record: { id, owner, quota }, key }: IssuedKey, { json }: KeysConfig): string {
  if (json) return JSON.stringify({ id, key, owner, quota })
  return `Key ${id} for ${owner}, ${counted(quota, 'request')} per hour. It is shown only once:\n${key}`
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
