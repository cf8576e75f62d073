-- RENEW for leases of one bucket. KEYS held, lock...
-- ARGV for each lock: nonce, token, ttl, key

local held = KEYS[1]
local now = clock()
local answers = {}
for i = 2, #KEYS do
  local at = (i - 2) * 4
  local row = read(KEYS[i])
  if row and row.nonce == ARGV[at + 1] and row.token == tonumber(ARGV[at + 2]) and row.expires > now then
    local ttl = math.max(tonumber(ARGV[at + 3]), row.expires - now)
    -- First what is not refused when the memory is full: the rest of the script is not refused either.
    local kept = redis.call('HMGET', KEYS[i], 'k', 'm')
    keep(KEYS[i], now, ttl, tonumber(kept[1]), kept[2] == ARGV[at + 4])
    redis.call('HSET', KEYS[i], 'x', now + ttl)
    redis.call('ZADD', held, now + ttl, ARGV[at + 4])
    redis.call('PEXPIRE', held, math.ceil(ttl / 1000) + SENTINEL_RETENTION)
    answers[i - 1] = 'RENEWED'
  else
    answers[i - 1] = 'LOST'
  end
end
return answers
