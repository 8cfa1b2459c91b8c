/**
 * The script that Redis runs for a replica as one indivisible step: it notes what the replica has taken of
 * each key's quota, and leases it more (`docs/redis.md`). Names have one hash tag, for one node of a cluster:
 * `PREFIX:{quota}:begun`: format, and since when the data are there (µs of Redis's clock).
 * `PREFIX:{quota}:replicas`: sorted set of replicas by when they were last heard, µs.
 * `PREFIX:{quota}:REPLICA`: number of the replica's last call.
 * `PREFIX:{quota}:HOUR:ID`: hash of a key and hour: by replica the calls taken, used or not; `all`: their
 * sum; `lost`: calls of replicas that ended before Redis lost its data.
 * A replica reports all calls that it has taken, never how many more: so lost answers, repeated calls and
 * lost data heal. After a loss nothing is leased until every replica has had time to report.
 */
import type { Reply } from './redis/redis-link.ts'

const ALIVE_MS = 2000
/** Redis leases nothing for this long after it lost data: five times the longest pause between two calls. */
const SETTLING_MS = 2500
/** A replica's clock may name an hour that is over by up to one. */
const KEPT_S = 7500

export const LEASE_SCRIPT = `
local function number(text) return tonumber(text or '0') or 0 end
local HEAD, WIDTH = 3, 5
local replica, call, seen = ARGV[1], number(ARGV[2]), ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local begun = redis.pcall('GET', KEYS[1])
local since = type(begun) == 'string' and string.match(begun, '^1 (%d+)$')
if begun and not since then
  return redis.error_reply('GSWFOREIGN the names of quotas are used by another program, or by another version')
end
-- A call that comes late would undo what a later one has said.
if number(redis.call('GET', KEYS[3])) >= call then return redis.error_reply('GSWLATE a later call was here') end
redis.call('SET', KEYS[3], ARGV[2], 'EX', ${KEPT_S})
local function begin()
  since = string.format('%.0f', now)
  redis.call('SET', KEYS[1], '1 ' .. since)
  redis.call('DEL', KEYS[2])
end
-- Nothing is there: a first start, or data were lost. Or Redis's clock was set back.
if not since or number(since) > now then begin() end
local items = {}
for i = 4, #KEYS do
  local at = HEAD + (i - 4) * WIDTH
  local found = redis.call('HMGET', KEYS[i], 'all', 'lost', replica)
  items[i] = { quota = number(ARGV[at + 1]), held = number(ARGV[at + 2]), others = number(ARGV[at + 3]),
    want = number(ARGV[at + 4]), need = number(ARGV[at + 5]),
    all = number(found[1]), lost = number(found[2]), had = number(found[3]), is_new = not found[3] }
  -- Redis has forgotten what it had leased. A first lease is held by nobody.
  if items[i].is_new and items[i].others >= 0 and since == seen then begin() end
end
local settling = math.max(0, math.ceil((number(since) - now) / 1000) + ${SETTLING_MS})
redis.call('ZADD', KEYS[2], now, replica)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${ALIVE_MS}000)
local count = redis.call('ZCARD', KEYS[2])
local answer = { since, settling, count }
for i = 4, #KEYS do
  local item = items[i]
  local held, rest, lost = item.held, item.all - item.had, item.lost
  if item.is_new and item.others >= 0 then
    -- Redis has lost data. What replicas that have ended, or come late, had taken, the others know only as a
    -- part of the sum; of one that comes late it is no longer lost.
    lost = math.max(0, math.max(rest + lost, held + item.others) - rest - held)
  end
  local pool = item.quota - rest - lost - held
  local give = 0
  if settling == 0 then
    -- Requests that wait come first. Ahead of need a replica gets the less, the less is left.
    give = math.max(0, math.min(item.want, pool, math.max(item.need, math.floor(pool / (2 * count)))))
  end
  redis.call('HSET', KEYS[i], 'all', rest + held + give, 'lost', lost, replica, held + give)
  redis.call('EXPIRE', KEYS[i], ${KEPT_S})
  answer[#answer + 1] = give
  answer[#answer + 1] = pool - give
  answer[#answer + 1] = rest + lost
end
return answer
`

export interface LeaseRequest {
  /** `HOUR:ID`, the end of the hash's name. */
  readonly tag: string
  readonly quota: number
  /** Calls taken so far, used or not. */
  readonly held: number
  /** Calls of all others as last heard; −1 for never. */
  readonly others: number
  /** Calls wanted, and how many of them requests wait for. */
  readonly want: number
  readonly need: number
}

export interface Grant {
  readonly give: number
  /** Calls that nobody has taken; below zero where some were taken without Redis. */
  readonly pool: number
  readonly others: number
}

export interface LeaseReply {
  /** Since when Redis has its data: another text after a loss. */
  readonly since: string
  /** For how long nothing is leased yet, ms. */
  readonly settlingMs: number
  readonly replicas: number
  readonly grants: readonly Grant[]
}

/** A call of the script. `number` grows with each call; `seen` is `since` as last heard. */
export function leaseCall(
  prefix: string,
  replica: string,
  { number, seen, requests }: { number: number; seen: string; requests: readonly LeaseRequest[] },
): { keys: string[]; args: string[] } {
  const names = ['begun', 'replicas', replica, ...requests.map(({ tag }) => tag)]
  const values = requests.flatMap(({ quota, held, others, want, need }) => [quota, held, others, want, need])
  return {
    keys: names.map((name) => `${prefix}:{quota}:${name}`),
    args: [replica, String(number), seen, ...values.map(String)],
  }
}

/** @throws TypeError for an answer that the script cannot have given */
export function readLeaseReply(reply: Reply, requests: readonly LeaseRequest[]): LeaseReply {
  if (!Array.isArray(reply) || reply.length !== 3 + 3 * requests.length) throw new TypeError('no such list')
  const [since, ...numbers] = reply
  if (typeof since !== 'string' || !/^\d{1,16}$/.test(since)) throw new TypeError('no time')
  const [settlingMs, replicas] = numbers.slice(0, 2).map((value) => whole(value, 0))
  const grants = requests.map(({ quota, want }, i) => {
    const [give, pool, others] = numbers.slice(2 + 3 * i)
    return { give: whole(give, 0, want), pool: whole(pool, -MOST, quota), others: whole(others, 0) }
  })
  return { since, settlingMs: Math.min(settlingMs, SETTLING_MS), replicas, grants }
}

/** Far more calls than an hour can have: quotas are at most 2^30. */
const MOST = 2 ** 40

function whole(value: Reply | undefined, least: number, most = MOST): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw new TypeError('no such number')
}
