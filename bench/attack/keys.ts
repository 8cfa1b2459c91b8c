/** Keys that nobody was given, in every form, and a file of keys that somebody spoils. */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { seededRandom } from '../http/statistics.ts'
import { amount, Tally, type Attack, type Finding, type Target } from './attack.ts'
import { Dialogue } from './dialogue.ts'
import { ODD_KEYS } from './words.ts'

const CONNECTIONS = 32
const DEPTH = 50
const ANSWER_LIMIT_MS = 20_000
/** A server looks at the file five times a second. */
const NOTICE_MS = 1000

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Of the form of keys, and some of other lengths. */
function madeUpKey(random: () => number): string {
  const length = random() < 0.8 ? 49 : Math.floor(random() * 4000)
  return `gsw_${Array.from({ length }, () => ALPHABET[Math.floor(random() * 64)]).join('')}`
}

/** Requests with keys that are none, in the header or the query: all are refused. */
async function guess({ port, key, seed }: Target, count: number): Promise<Finding> {
  const statuses = new Tally()
  const faults = new Tally()
  const each = Math.ceil(count / CONNECTIONS / DEPTH)
  const speak = async (n: number): Promise<void> => {
    const random = seededRandom(seed + n)
    let dialogue = new Dialogue(port)
    for (let round = 0; round < each; round++) {
      const batch = Array.from({ length: DEPTH }, () => {
        if (random() < 0.2) {
          const odd = ODD_KEYS[Math.floor(random() * ODD_KEYS.length)].replaceAll('KEY', `${key}x`)
          return `GET /v2/countries HTTP/1.1\r\nHost: a\r\n${odd}\r\n\r\n`
        }
        return random() < 0.5
          ? `GET /v2/countries HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${madeUpKey(random)}\r\n\r\n`
          : `GET /v2/countries?api_key=${madeUpKey(random)} HTTP/1.1\r\nHost: a\r\n\r\n`
      })
      dialogue.write(
        batch.join(''),
        batch.map(() => false),
      )
      const all = await dialogue.heard(DEPTH, ANSWER_LIMIT_MS)
      for (const { status, body } of dialogue.replies.splice(0)) {
        statuses.add(status)
        if (status !== 401 && status !== 400) faults.add(`status ${status}`)
        if (body.includes('gsw_')) faults.add('a key in an answer')
      }
      if (all && !dialogue.ended) continue
      if (!dialogue.ended) faults.add('no answer')
      dialogue.close()
      dialogue = new Dialogue(port)
    }
    dialogue.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => speak(n)))
  return {
    did: `answered ${statuses.toString()}`,
    faults: faults.words.length === 0 ? [] : [faults.toString()],
  }
}

/** What stands in the place of the file: each is refused, and the last good keys stay in force. */
const SPOILT: readonly [what: string, make: (path: string) => void][] = [
  ['an empty file', (path) => writeFileSync(path, '')],
  ['noise', (path) => writeFileSync(path, Buffer.alloc(100_000, 0xfe))],
  ['JSON without an end', (path) => writeFileSync(path, '{"format":1,"keys":[{"id":"a"')],
  ['JSON a million deep', (path) => writeFileSync(path, '['.repeat(1_000_000))],
  ['another format', (path) => writeFileSync(path, '{"format":"x","keys":[]}')],
  ['keys of other types', (path) => writeFileSync(path, '{"format":1,"keys":[1,null,"a",{}]}')],
  ['a prototype', (path) => writeFileSync(path, '{"__proto__":{"format":1,"keys":[]}}')],
  [
    'a million rows of nothing',
    (path) => writeFileSync(path, `{"format":1,"keys":[${'{},'.repeat(1e6)}{}]}`),
  ],
  [
    'a file of 20 GB with nothing in it',
    (path) => {
      writeFileSync(path, '')
      truncateSync(path, 20e9)
    },
  ],
  ['a folder', (path) => mkdirSync(path)],
  ['a pipe', (path) => void spawnSync('mkfifo', [path])],
  ['a device that never ends', (path) => symlinkSync('/dev/zero', path)],
  ['a link to itself', (path) => symlinkSync(path, path)],
]

async function spoil({ port, keysFile, key }: Target): Promise<Finding> {
  const faults: string[] = []
  const saved = `${keysFile}.saved`
  copyFileSync(keysFile, saved)
  try {
    for (const [what, make] of SPOILT) {
      rmSync(keysFile, { force: true, recursive: true })
      make(keysFile)
      await wait(NOTICE_MS)
      const status = await statusOf(port, key)
      if (status !== 200) faults.push(`${what}: a good key gets ${status}`)
    }
  } finally {
    rmSync(keysFile, { force: true, recursive: true })
    renameSync(saved, keysFile)
  }
  await wait(NOTICE_MS)
  const status = await statusOf(port, key)
  if (status !== 200) faults.push(`with the good file again: a good key gets ${status}`)
  return { did: `${SPOILT.length} things in the place of the file of keys`, faults }
}

async function statusOf(port: number, key: string): Promise<number | string> {
  const dialogue = new Dialogue(port)
  dialogue.write(`GET /v2/countries HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`, [false])
  await dialogue.heard(1, ANSWER_LIMIT_MS)
  dialogue.close()
  return dialogue.replies[0]?.status ?? 'no answer'
}

export const KEYS: readonly Attack[] = [
  {
    name: 'keys-guessed',
    about: '200,000 requests with keys that nobody was given',
    run: (target, scale) => guess(target, amount(200_000, scale)),
  },
  {
    name: 'keys-spoilt',
    about: `${SPOILT.length} things in the place of the file of keys`,
    run: (target) => spoil(target),
  },
]
