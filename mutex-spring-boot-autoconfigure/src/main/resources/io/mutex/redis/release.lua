-- RELEASE. KEYS lock, held, runs, order, shared
-- ARGV nonce, began (1 or 0), key

local lock, held, runs, order, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local nonce, began, key = ARGV[1], ARGV[2] == '1', ARGV[3]

local row = read(lock)
if not row then
  local now = clock()
  redis.call('HSET', lock, 't', now, 'n', 'unseen', 'x', 0, 'm', '', 'w', '', 'u', '', 'a', 0, 'g', now, 'k', 0,
    'q', 1, 'z', nonce .. ' ', 'zb', now)
  keep(lock, now, 0, 0)
  return { 'NOT_OWNER' }
end
if row.nonce == nonce and row.expires > 0 then
  -- First what is not refused when the memory is full: the rest of the script is not refused either.
  redis.call('ZREM', held, key)
  if began and row.unit ~= '' then
    doubt(runs, order, readAll(lock), key, clock())
  end
  redis.call('HSET', lock, 'x', 0)
  announce(lock, row, key)
  return { 'SETTLED' }
end
local now = clock()
local expires = row.more and expiryOf(shared, nonce)
if expires and expires > 0 then
  -- Here, too.
  redis.call('HDEL', lock, nonce)
  redis.call('ZADD', shared, -now, nonce)
  forgetReleased(shared, now)
  if expires > now then
    list(held, shared, key, now)
    announce(lock, row, key)
  end
  return { 'SETTLED' }
end
-- Released again: a request for the grant may be under way, and must grant nothing once the key has had
-- another holder.
local answer = { (row.nonce == nonce or expires) and 'SETTLED' or 'NOT_OWNER' }
readMore(lock, row)
if string.find(row.tombstones, nonce, 1, true) then
  return answer
end
bury(lock, row, { nonce }, now)
local left = redis.call('PTTL', lock)
if left >= 0 and left < TOKEN_RETENTION then
  keep(lock, now, 0, 0)
end
return answer
