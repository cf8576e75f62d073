-- RENEW for leases of one bucket. KEYS held, then of each lease lock and, if others may hold it as well, shared
-- ARGV for each lease: nonce, token, ttl, key, shared (1 or 0)

local held = KEYS[1]
local now = clock()
local answers = {}
local at = 1

local function renewed(lock, nonce, token, ttl, key)
  local row = read(lock)
  if not row or row.nonce ~= nonce or row.token ~= token or row.expires <= now then
    return false
  end
  ttl = math.max(ttl, row.expires - now)
  -- First what is not refused when the memory is full: the rest of the script is not refused either.
  local kept = redis.call('HMGET', lock, 'k', 'm')
  keep(lock, now, ttl, tonumber(kept[1]), kept[2] == key)
  redis.call('HSET', lock, 'x', now + ttl)
  redis.call('ZADD', held, now + ttl, key)
  return true
end

local function renewedTogether(lock, shared, nonce, token, ttl, key)
  local expires = expiryOf(shared, nonce) or 0
  local holder = expires > now and describeOne(lock, nonce, expires)
  if not holder or holder[1] ~= token then
    return false
  end
  -- Here, too.
  local last = math.max(lastEnd(shared), now + ttl)
  local kept = redis.call('HMGET', lock, 'k', 'm')
  keepShared(lock, shared, now, last, tonumber(kept[1]), kept[2] == key)
  redis.call('ZADD', shared, math.max(expires, now + ttl), nonce)
  redis.call('ZADD', held, last, key)
  return true
end

for i = 1, #ARGV, 5 do
  local nonce, token, ttl, key = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3]
  local done
  if ARGV[i + 4] == '1' then
    done = renewedTogether(KEYS[at + 1], KEYS[at + 2], nonce, token, ttl, key)
    at = at + 2
  else
    done = renewed(KEYS[at + 1], nonce, token, ttl, key)
    at = at + 1
  end
  answers[#answers + 1] = done and 'RENEWED' or 'LOST'
end
if redis.call('PTTL', held) < SENTINEL_RETENTION / 2 then
  redis.call('PEXPIRE', held, SENTINEL_RETENTION)
end
return answers
