/** `keys …`: issues, lists, rotates and revokes keys, and sets their quotas. */
import { findKey, issueKey, revokeKey, rotateKey, setQuota, type IssuedKey } from '../access/keys.ts'
import { loadKeys, type KeyRecord } from '../access/keys-file.ts'
import { readUsage, usagePath } from '../access/usage-file.ts'
import { ISSUE_SETTINGS, KEYS_FILE_SETTINGS } from '../process/settings.ts'
import { UsageError } from '../process/usage-error.ts'
import { command, type Command } from './command.ts'
import { makeDataFolder } from './data-folder.ts'
import { clock, print } from './surroundings.ts'

export const KEYS_COMMANDS: { readonly [name: string]: Command } = {
  'keys issue': command({
    usage: '--owner NAME [--keys FILE] [--quota N] [--json]',
    summary: 'issue a key; it is shown once',
    settings: ISSUE_SETTINGS,
    run: async ({ data, keys, owner, quota, json }) => {
      makeDataFolder(data)
      printIssued(issueKey(keys, { owner, quota, now: clock() }), json)
    },
  }),
  'keys list': command({
    usage: '[--keys FILE] [--json]',
    summary: "list keys with this hour's use",
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async ({ keys, json }) => {
      for (const line of keyLines(keys, loadKeys(keys), json)) print(line)
    },
  }),
  'keys show': command({
    usage: 'ID [--keys FILE] [--json]',
    summary: 'show one key',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 1,
    run: async ({ keys, json }, [id]) => {
      for (const line of keyLines(keys, [findKey(loadKeys(keys), id)], json)) print(line)
    },
  }),
  'keys rotate': command({
    usage: 'ID [--keys FILE] [--json]',
    summary: 'replace a key; the old one ends within a second, id and count stay',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 1,
    run: async ({ keys, json }, [id]) => printIssued(rotateKey(keys, id, clock()), json),
  }),
  'keys revoke': command({
    usage: 'ID [--keys FILE] [--json]',
    summary: 'end a key within a second',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 1,
    run: async ({ keys, json }, [id]) => {
      const { owner } = revokeKey(keys, id)
      print(json ? JSON.stringify({ id, owner, revoked: true }) : `Key ${id} of ${owner} is revoked.`)
    },
  }),
  'keys set-quota': command({
    usage: 'ID N [--keys FILE] [--json]',
    summary: 'change the hourly quota of a key',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 2,
    run: async ({ keys, json }, [id, text]) => {
      const { owner, quota } = setQuota(keys, id, parseQuota(text))
      print(
        json
          ? JSON.stringify({ id, owner, quota })
          : `Key ${id} of ${owner} has ${quota} requests an hour now.`,
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
    print(`Key ${id} for ${owner}, ${quota} requests an hour. It is shown this once:`)
    print(key)
  }
}

/** Keys with what they used of this hour's quota, as the servers last saved it (every two seconds). */
function keyLines(path: string, records: readonly KeyRecord[], json: boolean): string[] {
  const { counts } = readUsage(usagePath(path), clock())
  const rows = records.map(({ id, owner, quota, created, rotated }) => ({
    id,
    owner,
    quota,
    used: counts.get(id) ?? 0,
    created,
    rotated: rotated ?? null,
  }))
  if (json) return rows.map((row) => JSON.stringify(row))
  if (rows.length === 0) return ['no keys']
  return rows.map(
    ({ id, owner, quota, used, created, rotated }) =>
      `${id}  ${used} of ${quota} used this hour  issued ${created}${rotated === null ? '' : `, rotated ${rotated}`}  ${owner}`,
  )
}
