-- FORCE_RELEASE. KEYS lock, held, runs, order, shared
-- ARGV nonce (a new one, which takes the place of the holder's), key

local lock, held, runs, order, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

local now = clock()
local row = readAll(lock)
local holder = holders(lock, shared, row, now, 1)[1]
if not holder then
  return { 'NOT_HELD' }
end
-- First what is not refused when the memory is full: the rest of the script is not refused either.
redis.call('ZREM', held, ARGV[2])
local raised = math.max(row.token + 1, now)
if row.expires > now then
  doubt(runs, order, row, ARGV[2], now)
  redis.call('HSET', lock, 't', raised, 'n', ARGV[1], 'x', 0)
else
  removeAll(lock, shared, row, now)
  redis.call('HSET', lock, 't', raised)
end
announce(lock, row, ARGV[2])
return { 'RELEASED', raised, now, unpack(holder) }
