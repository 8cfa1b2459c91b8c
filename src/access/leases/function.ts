/**
 * The function that Redis runs for a replica, as one indivisible step: notes what the replica holds, and
 * leases calls to it. Its caller is `book.ts`; `docs/scaling.md` says what it promises.
 *
 * Names, all of one hash tag (one of {@link BUCKETS}), so that one call touches one node of a cluster:
 *
 *     PREFIX:{qB}:generation   hash: format, id, since (ms of Redis's clock), expected, told, told:REPLICA
 *     PREFIX:{qB}:members      sorted set: replicas by when they were last heard, ms
 *     PREFIX:{qB}:recalls      sorted set: HOUR:ID of keys whose leases are called back, by when, ms
 *     PREFIX:{qB}:HOUR:ID      hash of a key and clock hour: totals g, b, s, u and the same of each
 *                              replica, g:REPLICA …
 *
 * g: calls leased, b: given back, s: admitted by a replica while Redis was away, u: used. Each only ever
 * grows, and of what Redis has and what it is sent the larger counts: so lost answers, repeated calls and
 * lost data heal. The pool is quota − (g − b) − s. While Redis learns, `floor` is the most that anybody knows
 * was used, and `base` what replicas say first; the difference was used by replicas that have ended, and then
 * counts as leased and used.
 */
/** Hash tags that key ids are spread over. All replicas have to agree on it. */
export const BUCKETS = 16
/** Arguments before those of the keys, and of each key. */
export const HEAD_ARGUMENTS = 10
export const KEY_ARGUMENTS = 9

/** Of a call: what it did, and then four numbers for each key. */
export type SyncReply = readonly [
  generation: string,
  /** For how long nothing is leased yet. */
  learningMs: number,
  /** Redis's clock, ms. */
  now: number,
  /** Replicas that were heard lately. */
  members: number,
  recalls: readonly string[],
  /** For each key: leased so far, pool, calls that other live replicas hold (−1: not asked), used by all. */
  keys: readonly number[],
]

export const LEASE_FUNCTION = 'sync'

/** Registers {@link LEASE_FUNCTION}; see `redisLibrary`. */
export const LEASE_LIBRARY = `
local function number(text) return tonumber(text or '0') or 0 end
local HEAD, WIDTH = ${HEAD_ARGUMENTS}, ${KEY_ARGUMENTS}
-- A replica's clock may name an hour that is over by up to one.
local KEPT_S = 7500

register('${LEASE_FUNCTION}', function(keys, args)
  local generation, members, recalls = keys[1], keys[2], keys[3]
  local replica, seen, leaves = args[1], args[2], args[3] == '1'
  local expected, telling = number(args[4]), number(args[5])
  local shortest, longest, alive = number(args[6]), number(args[7]), number(args[8])
  local recalls_seen, channel = number(args[9]), args[10]
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)

  local id, since
  local function begin()
    id, since = time[1] .. '.' .. time[2] .. '.' .. replica, now
    redis.call('DEL', generation)
    redis.call('HSET', generation, 'format', 1, 'id', id, 'since', now)
  end
  local found = redis.call('HMGET', generation, 'format', 'id', 'since', 'expected', 'told', 'told:' .. replica)
  if found[1] and found[1] ~= '1' or not found[1] and redis.call('EXISTS', generation) == 1 then
    return fail('FOREIGN', 'the names of quotas are used by another program, or by another version')
  end
  id, since = found[2], number(found[3])
  -- Nothing is there: a first start, or data were lost. Or Redis's clock was set back.
  if not id then begin() elseif since > now then
    since = now
    redis.call('HSET', generation, 'since', since)
  end
  local learns = now < since + longest
  if learns and id == seen then
    -- Nothing is leased until every replica has said what it holds. It is over sooner when as many have as were there before.
    local told = number(found[5])
    if telling > 0 then
      since = math.max(since, now - longest + shortest)
      redis.call('HSET', generation, 'since', since)
    elseif expected > 0 and not found[6] then
      told = redis.call('HINCRBY', generation, 'told', 1)
      redis.call('HSET', generation, 'told:' .. replica, 1)
    end
    local most = math.max(expected, number(found[4]))
    if most > number(found[4]) then redis.call('HSET', generation, 'expected', most) end
    if most > 0 and told >= most and telling == 0 and now >= since + shortest then
      since = now - longest
      redis.call('HSET', generation, 'since', since)
      learns = false
    end
  end

  local items, has_lagged = {}, false
  for i = 1, (#args - HEAD) / WIDTH do
    local at = HEAD + (i - 1) * WIDTH
    local name = keys[3 + i]
    local f = redis.call('HMGET', name, 'g', 'b', 's', 'u', 'floor',
      'g:' .. replica, 'b:' .. replica, 's:' .. replica, 'u:' .. replica, 'base', 'learning', 'told:' .. replica)
    local item = { name = name, tag = args[at + 1], quota = number(args[at + 2]), known = number(args[at + 3]),
      want = number(args[at + 7]), need = number(args[at + 8]), before = f,
      floor = number(f[5]), base = number(f[10]), learning = f[11], told = f[12], u_before = number(f[4]),
      g = number(f[1]), b = number(f[2]), s = number(f[3]), u = number(f[4]),
      gr = number(f[6]), br = number(f[7]), sr = number(f[8]), ur = number(f[9]) }
    -- Redis has forgotten what it had leased: it is a copy that lagged behind.
    if item.known > item.gr and id == seen and not learns then has_lagged = true end
    local function grow(total, own, value)
      if value > item[own] then
        item[total] = item[total] + value - item[own]
        item[own] = value
      end
    end
    grow('g', 'gr', item.known)
    grow('b', 'br', number(args[at + 4]))
    grow('s', 'sr', number(args[at + 5]))
    grow('u', 'ur', number(args[at + 6]))
    item.total = number(args[at + 9])
    items[i] = item
  end
  if has_lagged then
    begin()
    learns = true
  end

  if leaves then redis.call('ZREM', members, replica) else redis.call('ZADD', members, now, replica) end
  redis.call('ZREMRANGEBYSCORE', members, '-inf', now - 3600000)
  local live = redis.call('ZRANGEBYSCORE', members, now - alive, now + 1000)
  local count = math.max(1, #live)

  local answer = {}
  for i, item in ipairs(items) do
    if learns then
      -- What replicas that have ended had used, the others know only as a part of the sum. So what all had used before
      -- is compared with what each says first.
      if item.learning ~= id then
        item.floor, item.base = 0, item.u_before
        redis.call('HSET', item.name, 'learning', id)
      end
      if item.told ~= id then
        item.base = item.base + item.u - item.u_before
        item.floor = math.max(item.floor, item.total)
        redis.call('HSET', item.name, 'told:' .. replica, id)
      end
    elseif item.floor > 0 then
      local lost = math.max(0, item.floor - item.base)
      item.g, item.u, item.floor = item.g + lost, item.u + lost, 0
    end
    local pool = item.quota - (item.g - item.b) - item.s
    -- Without what an answer that was lost had leased.
    local want, need = item.want - (item.gr - item.known), item.need - (item.gr - item.known)
    local give = 0
    if not learns and want > 0 and pool > 0 then
      -- Calls that wait come first; ahead of need each replica gets a part of the pool, and nothing once it is low.
      give = math.max(0, math.min(want, pool, math.max(need, math.floor(pool / (2 * count)))))
      item.gr, item.g, pool = item.gr + give, item.g + give, pool - give
    end
    local out = -1
    if not learns and pool <= 0 and need > give then
      out = 0
      for _, other in ipairs(live) do
        if other ~= replica then
          local o = redis.call('HMGET', item.name, 'g:' .. other, 'b:' .. other, 's:' .. other, 'u:' .. other)
          out = out + math.max(0, number(o[1]) - number(o[2]) + number(o[3]) - number(o[4]))
        end
      end
      if out > 0 then
        redis.call('ZADD', recalls, now, item.tag)
        redis.call('ZREMRANGEBYSCORE', recalls, '-inf', now - 10000)
        redis.call('EXPIRE', recalls, 60)
        redis.call('PUBLISH', channel, item.tag)
      end
    end
    local after = { item.g, item.b, item.s, item.u, item.floor, item.gr, item.br, item.sr, item.ur, item.base }
    local names = { 'g', 'b', 's', 'u', 'floor', 'g:' .. replica, 'b:' .. replica, 's:' .. replica, 'u:' .. replica, 'base' }
    local changes = {}
    for j, value in ipairs(after) do
      if value ~= number(item.before[j]) then
        changes[#changes + 1] = names[j]
        changes[#changes + 1] = value
      end
    end
    if #changes > 0 then
      redis.call('HSET', item.name, unpack(changes))
      redis.call('EXPIRE', item.name, KEPT_S)
    end
    answer[4 * i - 3], answer[4 * i - 2], answer[4 * i - 1], answer[4 * i] = item.gr, pool, out, item.u
  end

  if recalls_seen > now then recalls_seen = now - 1000 end
  local called = redis.call('ZRANGEBYSCORE', recalls, '(' .. string.format('%.0f', recalls_seen), '+inf')
  return { id, learns and since + longest - now or 0, now, #live, called, answer }
end)
`

/** The bucket of a key id (FNV-1a). */
export function bucketOf(id: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % BUCKETS
}

/** Begins the names of a bucket. */
export function bucketName(prefix: string, bucket: number): string {
  return `${prefix}:{q${bucket}}`
}
