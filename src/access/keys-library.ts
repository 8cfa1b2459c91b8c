/**
 * What runs inside Redis for keys. Each function checks first that the names hold what this program wrote,
 * and changes nothing where they do not. Errors of its own begin with `GSW`.
 *
 * Names, all of one hash tag: KEYS[1] records (hash: id → JSON), KEYS[2] owners (hash: owner → id), KEYS[3]
 * state (hash: format, generation, origin, version, stamp), KEYS[4] log (stream: entry VERSION-0 has the id
 * that changed and the stamp of the change; the id `*` stands for all).
 */
import { redisLibrary } from '../redis/library.ts'

/** Of the layout. Another number in the database is refused. */
const KEYS_FORMAT = 'groundswell-keys-1'
/** Changes that a replica may have missed and still learn one by one; more, and it reads all keys again. */
const LOG_ENTRIES = 10_000
/** A record of ours has at most 1,200 bytes: an owner of 200 characters, in JSON. */
const RECORD_BYTES = 4096
const ID_BYTES = 64
/** A killed import leaves nothing behind. */
const STAGING_S = 600

export const KEYS_LIBRARY = redisLibrary(
  'keys',
  `
local KINDS = { 'hash', 'hash', 'hash', 'stream' }
-- The state of the set of keys; nil where there is none; an error where the names are another program's.
local function state_of(keys)
  local found = 0
  for i = 1, 4 do
    local kind = redis.call('TYPE', keys[i]).ok
    if kind ~= 'none' then
      if kind ~= KINDS[i] then return nil, fail('GSWFOREIGN', keys[i] .. ' is a ' .. kind) end
      found = found + 1
    end
  end
  if found == 0 then return nil end
  local s = redis.call('HMGET', keys[3], 'format', 'generation', 'origin', 'version', 'stamp')
  if s[1] ~= '${KEYS_FORMAT}' or not s[2] or not s[3] or not tonumber(s[4]) or not s[5] then
    return nil, fail('GSWFOREIGN', keys[3] .. ' has no state of this format')
  end
  return { generation = s[2], origin = s[3], version = tonumber(s[4]), stamp = s[5] }
end
local function text_of(version) return string.format('%.0f', version) end
-- A record as it goes to a replica: its state and its text.
local function record_of(key, id)
  if redis.call('HSTRLEN', key, id) > ${RECORD_BYTES} then return 'long', '' end
  local text = redis.call('HGET', key, id)
  if text then return 'here', text end
  return 'gone', ''
end
local function is_logged(log, version, stamp)
  local id = text_of(version) .. '-0'
  local entry = redis.call('XRANGE', log, id, id)[1]
  if not entry then return false end
  for i = 1, #entry[2], 2 do if entry[2][i] == 'stamp' then return entry[2][i + 1] == stamp end end
  return false
end

-- generation, version, stamp of the caller; how many changes to give at most
register('changes', function(keys, args)
  local s, wrong = state_of(keys)
  if wrong then return wrong end
  if not s then return { 'empty' } end
  local own = tonumber(args[2])
  local head = { s.generation, s.origin, text_of(s.version), s.stamp, redis.call('HLEN', keys[1]) }
  local function answer(kind) return { kind, unpack(head) } end
  if s.generation ~= args[1] then return answer('other') end
  if s.version == own and s.stamp == args[3] then return answer('same') end
  if not is_logged(keys[4], own, args[3]) then return answer('lost') end
  local entries = redis.call('XRANGE', keys[4], '(' .. text_of(own) .. '-0', '+', 'COUNT', args[4])
  local result = answer('changes')
  local seen = {}
  for _, entry in ipairs(entries) do
    local fields = {}
    for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
    local change = { string.match(entry[1], '^%d+'), fields.stamp or '', fields.id or '' }
    if fields.id and not seen[fields.id] and #fields.id <= ${ID_BYTES} then
      seen[fields.id] = true
      change[4], change[5] = record_of(keys[1], fields.id)
    else
      change[4], change[5] = 'seen', ''
    end
    result[#result + 1] = change
  end
  return result
end, { 'no-writes' })

-- the newest changes, without records: to find the one that a replica and a copy that lags have in common
register('tail', function(keys, args)
  local s, wrong = state_of(keys)
  if wrong then return wrong end
  local result = {}
  if not s then return result end
  for _, entry in ipairs(redis.call('XREVRANGE', keys[4], '+', '-', 'COUNT', args[1])) do
    for i = 1, #entry[2], 2 do
      if entry[2][i] == 'stamp' then
        result[#result + 1] = string.match(entry[1], '^%d+')
        result[#result + 1] = entry[2][i + 1]
      end
    end
  end
  return result
end, { 'no-writes' })

-- generation, cursor, about how many records
register('page', function(keys, args)
  local s, wrong = state_of(keys)
  if wrong then return wrong end
  if not s or s.generation ~= args[1] then return { 'other' } end
  local page = redis.call('HSCAN', keys[1], args[2], 'COUNT', args[3])
  local result = { 'page', page[1] }
  for i = 1, #page[2], 2 do
    local id, text = page[2][i], page[2][i + 1]
    if #id > ${ID_BYTES} then id, text = string.sub(id, 1, ${ID_BYTES}), false end
    result[#result + 1] = id
    result[#result + 1] = (text and #text <= ${RECORD_BYTES}) and text or ''
  end
  return result
end, { 'no-writes' })

register('read', function(keys, args)
  local s, wrong = state_of(keys)
  if wrong then return wrong end
  if not s then return { 'gone', '' } end
  return { record_of(keys[1], args[1]) }
end, { 'no-writes' })

-- id, owner, record as the caller read it ('' for none, '*' for one that cannot be read), record to write ('' to end the key), generation to begin
-- where there is none, stamp, channel, most keys
local function change(keys, args)
  local id, owner, expected, record, generation, stamp, channel = unpack(args)
  local s, wrong = state_of(keys)
  if wrong then return wrong end
  local kind, now = record_of(keys[1], id)
  if expected == '*' then
    if kind == 'gone' then return { 'changed', '' } end
  elseif now ~= expected then
    return { 'changed', now }
  end
  if record ~= '' then
    local other = redis.call('HGET', keys[2], owner)
    if other and other ~= id and redis.call('HEXISTS', keys[1], other) == 1 then return { 'owner', other } end
    if expected == '' and redis.call('HLEN', keys[1]) >= tonumber(args[8]) then return { 'full' } end
  end
  local version = (s and s.version or 0) + 1
  -- First what can be refused: an entry below the newest one.
  redis.call('XADD', keys[4], 'MAXLEN', '~', ${LOG_ENTRIES}, text_of(version) .. '-0', 'id', id, 'stamp', stamp)
  if not s then
    redis.call('HSET', keys[3], 'format', '${KEYS_FORMAT}', 'generation', generation, 'origin', 'issue')
  end
  redis.call('HSET', keys[3], 'version', text_of(version), 'stamp', stamp)
  if record == '' then
    redis.call('HDEL', keys[1], id)
    if redis.call('HGET', keys[2], owner) == id then redis.call('HDEL', keys[2], owner) end
  else
    redis.call('HSET', keys[1], id, record)
    redis.call('HSET', keys[2], owner, id)
  end
  redis.call('PUBLISH', channel, text_of(version))
  return { 'done', text_of(version) }
end
register('change', change)
-- A key can be ended also when Redis is out of memory.
register('revoke', change, { 'allow-oom' })

-- KEYS: records and owners of an import; args: id, owner, record, …
register('stage', function(keys, args)
  for i = 1, #args, 3 do
    redis.call('HSET', keys[1], args[i], args[i + 2])
    redis.call('HSET', keys[2], args[i + 1], args[i])
  end
  for i = 1, 2 do redis.call('EXPIRE', keys[i], ${STAGING_S}) end
  return redis.call('HLEN', keys[1])
end)

-- KEYS[5], KEYS[6] as staged; generation, version as the caller read them ('' and 0 for none), new generation, stamp,
-- channel, how many records are staged
register('swap', function(keys, args)
  local s, wrong = state_of(keys)
  if wrong then return wrong end
  local was = s and s.generation or ''
  if s and s.generation == args[3] then return { 'done', text_of(s.version) } end
  if was ~= args[1] or (s and s.version or 0) ~= tonumber(args[2]) then return { 'changed' } end
  if redis.call('HLEN', keys[5]) ~= tonumber(args[6]) then return { 'changed' } end
  local version = (s and s.version or 0) + 1
  for i = 1, 2 do
    if redis.call('EXISTS', keys[i + 4]) == 1 then
      redis.call('RENAME', keys[i + 4], keys[i])
      redis.call('PERSIST', keys[i])
    else
      redis.call('DEL', keys[i])
    end
  end
  redis.call('DEL', keys[4])
  redis.call('XADD', keys[4], text_of(version) .. '-0', 'id', '*', 'stamp', args[4])
  redis.call('HSET', keys[3], 'format', '${KEYS_FORMAT}', 'generation', args[3], 'origin', 'imported',
    'version', text_of(version), 'stamp', args[4])
  redis.call('PUBLISH', args[5], text_of(version))
  return { 'done', text_of(version) }
end)
`,
)
