-- REOPEN. KEYS lock, held, runs, order
-- ARGV unit, key

local lock, held, runs, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local unit, key = ARGV[1], ARGV[2]

local now = clock()
local row = readAll(lock)
local latest = row and row.unit == unit
if latest and row.expires > now then
  return { 'HELD', now, unpack(describe(row)) }
end
local removed = redis.call('HGET', runs, unit)
local dead = latest and abandoned(row, now)
if dead then
  removed = pack('X', row, now, 0, '')
end
if not removed then
  return { 'NOTHING' }
end
redis.call('ZREM', order, unit)
redis.call('HDEL', runs, unit)
if redis.call('HGET', runs, LATEST_SUCCESS) == unit then
  redis.call('HDEL', runs, LATEST_SUCCESS)
end
if dead then
  redis.call('ZREM', held, key)
  redis.call('HSET', lock, 'x', 0)
end
return { 'REOPENED', removed }
