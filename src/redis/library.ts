/** Libraries of functions that run inside Redis, each call as one indivisible step. */
import { createHash } from 'node:crypto'

export interface RedisLibrary {
  /** What `FUNCTION LOAD` gets. */
  readonly code: string
  /** Name of one of its functions in the database. */
  nameOf(functionName: string): string
}

/**
 * A library of Lua functions. Its name and those of its functions end in a hash of the code: programs of
 * several versions use one database side by side, and a function that is there is known to be the right one.
 *
 * @param body Lua that registers each function by `register('NAME', function(keys, args) … end)`, with a
 * table of flags as a third argument where it needs one. `fail(WORD, text)` makes an error answer.
 */
export function redisLibrary(name: string, body: string): RedisLibrary {
  const tag = createHash('sha256').update(PRELUDE).update(body).digest('hex').slice(0, 10)
  const nameOf = (functionName: string): string => `groundswell_${name}_${functionName}_${tag}`
  const code = `#!lua name=groundswell_${name}_${tag}\n${PRELUDE.replaceAll('NAME', name).replaceAll('TAG', tag)}${body}`
  return { code, nameOf }
}

const PRELUDE = `
local function register(name, callback, flags)
  redis.register_function{ function_name = 'groundswell_NAME_' .. name .. '_TAG', callback = callback, flags = flags or {} }
end
local function fail(word, text) return redis.error_reply(word .. ' ' .. text) end
`
