-- COMPLETE and FAIL. KEYS lock, held, runs, order
-- ARGV nonce, token, unit, status (D or F), delay, error, key

local lock, held, runs, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local nonce, token, unit, status, delay, err, key =
  ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7]

local now = clock()
local row = readAll(lock)
if row and row.nonce == nonce and row.token == token and row.unit == unit and row.expires > 0 then
  -- First what is not refused when the memory is full: the rest of the script is not refused either.
  redis.call('ZREM', held, key)
  remember(runs, order, row, key, now, status, (status == 'F') and now + delay or 0, err)
  redis.call('HSET', lock, 'x', 0)
  announce(lock, row, key)
  return { 'SETTLED' }
end
local run = parse(redis.call('HGET', runs, unit))
if run and run.status == status and run.nonce == nonce then
  return { 'SETTLED' }
end
return { 'NOT_OWNER' }
