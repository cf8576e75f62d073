-- ACQUIRE. KEYS lock, held, runs, order
-- ARGV nonce, ttl, floor, tokens, name, owner, key, born, grants, longest
--   [, unit, begins, tolerance, within, attempt, kept until, kept for]
-- `born` and `grants` are what the asking instance has seen of the sentinel, 0 if nothing, and `longest` is the
-- longest lease it knows. The answer ends with what is true now: born, grants, and when a loss was found.

local LIMIT = 9007199254740992

local lock, held, runs, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local nonce, ttl, floor, tokens = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local name, owner, key, unit = ARGV[5], ARGV[6], ARGV[7], ARGV[11]
local longest = tonumber(ARGV[10])
local begins, tolerance, within = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local wanted = tonumber(ARGV[15]) or 0
local now = clock()

-- A loss of data shows in the sentinel: it is gone, was made anew, or counts fewer grants than were seen. One that
-- was made anew by an instance that had seen nothing tells when: the loss was before that.
local function survey(seen, counted)
  local values = redis.call('ZMSCORE', held, BORN, LOST, GRANTS)
  local born, lost, grants = -tonumber(values[1] or 0), -tonumber(values[2] or 0), -tonumber(values[3] or 0)
  if born > 0 and lost <= now and (seen == 0 or (seen == born and counted <= grants)) then
    return born, lost, grants
  end
  if born == 0 then
    born, lost, grants = now, (seen > 0) and now or 0, 0
  elseif seen > 0 and seen ~= born then
    lost = math.max(lost, born)
  elseif counted > grants then
    lost, grants = now, counted
  end
  lost = math.min(lost, now)
  redis.call('ZADD', held, -born, BORN, -lost, LOST, -grants, GRANTS)
  redis.call('PEXPIRE', held, SENTINEL_RETENTION)
  return born, lost, grants
end

local born, lost, grants = survey(tonumber(ARGV[8]), tonumber(ARGV[9]))

local function acquire()
  local run = unit and parse(redis.call('HGET', runs, unit))

  if run and run.status == 'D' and (not within or run.began > now - within) then
    return { 'DONE', run.packed }
  end
  if begins and begins - now > tolerance then
    return { 'TOO_EARLY', begins - now }
  end

  local row = read(lock)
  if row then
    if row.nonce == nonce then
      if row.expires <= now then
        return { 'STALE' }
      end
      row = readAll(lock)
      return { 'GRANTED', row.token - tokens + 1, row.token, row.attempt,
        (run and run.status == 'X') and run.packed or '' }
    end
    if string.find(row.tombstones, nonce, 1, true) then
      return { 'STALE' }
    end
    if row.expires > now then
      return { 'HELD', redis.call('HGET', lock, 'w'), row.unit, row.expires - now }
    end
  end
  if lost + longest > now then
    return { 'HELD_BACK', lost + longest - now }
  end

  local dead = abandoned(row, now)
  if dead or row and row.tombstones ~= '' then
    row = readAll(lock)
  end
  local last
  if unit and dead and row.unit == unit then
    last = parse(pack('X', row, now, 0, ''))
  elseif run and run.status ~= 'D' then
    last = run
  end
  if wanted > 0 and last and (wanted ~= last.attempt + 1 or last.notBefore > now) then
    return { 'NOT_YET', last.packed, math.max(0, last.notBefore - now) }
  end

  local first = math.max(row and row.token + 1 or 1, now, floor + 1)
  local token = first + tokens - 1
  if token >= LIMIT then
    return { 'EXHAUSTED', text(token) }
  end
  if dead then
    doubt(runs, order, row, key, now, unit)
  end
  local kept = unit and math.min(FOREVER, math.max(tonumber(ARGV[16]), now + tonumber(ARGV[17]))) or 0
  local attempt = unit and (last and last.attempt or 0) + 1 or 0
  redis.call('HSET', lock, 't', token, 'n', nonce, 'x', now + ttl, 'm', name, 'w', owner, 'u', unit or '', 'a', attempt,
    'g', now, 'k', kept)
  if row and row.tombstones ~= '' and row.buried <= now - TOMBSTONE_LIFETIME then
    redis.call('HDEL', lock, 'z', 'zb')
  end
  keep(lock, now, ttl, kept, name == key)
  grants = grants + 1
  redis.call('ZADD', held, now + ttl, key, -grants, GRANTS)
  redis.call('PEXPIRE', held, math.ceil(ttl / 1000) + SENTINEL_RETENTION)
  if not row or dead then
    -- Holders that died and whose keys nobody wanted again.
    local forgotten = redis.call('ZRANGEBYSCORE', held, '(0', now - DAY * 1000, 'LIMIT', 0, 100)
    if #forgotten > 0 then
      redis.call('ZREM', held, unpack(forgotten))
    end
  end
  return { 'GRANTED', first, token, attempt, (last and last.status == 'X') and last.packed or '' }
end

local answer = acquire()
answer[#answer + 1] = born
answer[#answer + 1] = grants
answer[#answer + 1] = lost
return answer
