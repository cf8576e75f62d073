-- FORCE_RELEASE. KEYS lock, held, runs, order
-- ARGV nonce (a new one, which takes the place of the holder's), key

local lock, held, runs, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local now = clock()
local row = readAll(lock)
if not row or row.expires <= now then
  return { 'NOT_HELD' }
end
-- First what is not refused when the memory is full: the rest of the script is not refused either.
redis.call('ZREM', held, ARGV[2])
doubt(runs, order, row, ARGV[2], now)
local raised = math.max(row.token + 1, now)
redis.call('HSET', lock, 't', raised, 'n', ARGV[1], 'x', 0)
return { 'RELEASED', raised, now, unpack(describe(row)) }
