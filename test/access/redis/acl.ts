/** The ACL that the documentation gives to users of Redis. */
import { readFileSync } from 'node:fs'

const PAGE = readFileSync(new URL('../../../docs/redis.md', import.meta.url), 'utf8')

/** The commands that make a user with what `docs/redis.md` says, as words for Redis. */
export function aclOf(user: string, password: string): string[][] {
  const lines = [...PAGE.matchAll(/^ {4}ACL SETUSER (\S+) (.*)$/gm)].filter(([, name]) => name === user)
  return lines.map(([, , rules], at) => {
    // What stands in brackets is one word.
    const words = rules.match(/\([^)]*\)|\S+/g) ?? []
    const own = words.map((word) => (word === '>PASSWORD' ? `>${password}` : word))
    return at === 0 ? ['ACL', 'SETUSER', user, 'reset', ...own] : ['ACL', 'SETUSER', user, ...own]
  })
}
