-- ACQUIRE. KEYS lock, held, runs, order, shared
-- ARGV nonce, ttl, floor, tokens, name, owner, key, born, grants, longest, sharing
--   [, unit, begins, tolerance, within, attempt, kept until, kept for]
-- `born` and `grants` are what the asking instance has seen of the sentinel, 0 if nothing, and `longest` is the
-- longest lease it knows. `sharing` is '' for an exclusive request that does not wait; otherwise permits, for how long
-- to reserve the place of the next holder, and the channel of the waiter, '' if it does not wait. The answer ends with
-- what is true now, born, grants, and when a loss was found; but for TAKEN, that of the most frequent grant: first
-- token, grants.

local lock, held, runs, order, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local nonce, ttl, floor, tokens = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local name, owner, key, unit = ARGV[5], ARGV[6], ARGV[7], ARGV[12]
local longest = tonumber(ARGV[10])
local begins, tolerance, within = tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15])
local wanted = tonumber(ARGV[16]) or 0
local permits, lasting, waiter = 1, 0, ''
local now = clock()

if ARGV[11] ~= '' then
  permits, lasting, waiter = string.match(ARGV[11], '^(%d+) (%d+) (.*)$')
  permits, lasting = tonumber(permits), tonumber(lasting)
end

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

-- What an earlier request with this nonce has come to, or nil.
local function answered(row, run)
  if row.nonce == nonce then
    if row.expires <= now then
      return { 'STALE' }
    end
    row = readAll(lock)
    return { 'GRANTED', row.token - tokens + 1, row.token, row.attempt,
      (run and run.status == 'X') and run.packed or '' }
  end
  if not row.more then
    return nil
  end
  local expires = expiryOf(shared, nonce)
  if not expires then
    return string.find(row.tombstones, nonce, 1, true) and { 'STALE' }
  end
  local holder = expires > now and describeOne(lock, nonce, expires)
  return holder and { 'GRANTED', holder[1], holder[1], 0, '' } or { 'STALE' }
end

-- Who is in the way, or nil. Of those who hold together it is the one whose end makes room.
local function holder(row)
  if row.expires > now then
    return { 'HELD', redis.call('HGET', lock, 'w'), row.unit, row.expires - now }
  end
  if row.more then
    local last = redis.call('ZRANGE', shared, -permits, -permits, 'WITHSCORES')
    local expires = tonumber(last[2])
    if expires and expires > now then
      local one = describeOne(lock, last[1], expires)
      return { 'HELD', one and one[5] or '', '', expires - now }
    end
  end
end

local function reserve(row)
  if waiter ~= '' and (row.reserved <= now or row.waiter == waiter) then
    -- A full memory refuses the place, and the request was refused before.
    redis.pcall('HSET', lock, 'q', 1, 'r', waiter, 'ru', now + lasting)
  end
end

-- Stores a grant that keeps nobody out but those who want the key for themselves.
local function share(row, token)
  local dead = abandoned(row, now)
  if not row then
    redis.call('HSET', lock, 'n', 'unseen', 'x', 0, 'm', '', 'w', '', 'u', '', 'a', 0, 'g', now, 'k', 0)
  elseif dead then
    redis.call('HSET', lock, 'n', 'unseen', 'x', 0)
    bury(lock, row, { row.nonce }, now)
  end
  redis.call('HSET', lock, 'q', 1, 't', token, nonce, table.concat({ text(token), text(now), name, owner }, '\n'))
  redis.call('ZADD', shared, now + ttl, nonce)
  remove(lock, shared, redis.call('ZRANGEBYSCORE', shared, '(0', now - TOMBSTONE_LIFETIME, 'LIMIT', 0, 100))
  local last = lastEnd(shared)
  keepShared(lock, shared, now, last, row and row.kept or 0, row and row.name == key)
  return last
end

-- After a grant, removes what is over.
local function tidy(row)
  if permits == 1 then
    removeAll(lock, shared, row, now)
    forgetReleased(shared, now)
  end
  local over = {}
  local buried = row.tombstones ~= '' and row.buried > now - TOMBSTONE_LIFETIME
  local reserved = row.reserved > now and row.waiter ~= waiter
  if row.tombstones ~= '' and not buried then
    over = { 'z', 'zb' }
  end
  if row.waiter and not reserved then
    over[#over + 1] = 'r'
    over[#over + 1] = 'ru'
  end
  if permits == 1 and not buried and not reserved and #redis.call('ZRANGE', shared, 0, 0) == 0 then
    over[#over + 1] = 'q'
  end
  if #over > 0 then
    redis.call('HDEL', lock, unpack(over))
  end
end

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
    readMore(lock, row)
    local answer = answered(row, run)
    if answer then
      return answer
    end
    answer = holder(row)
    if answer then
      reserve(row)
      return answer
    end
    if row.reserved > now and row.waiter ~= waiter and (waiter ~= '' or permits > 1) then
      return { 'HELD', '', '', row.reserved - now }
    end
  end
  if lost + longest > now then
    return { 'HELD_BACK', lost + longest - now }
  end

  local dead = abandoned(row, now)
  if dead or row and permits > 1 then
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
  local attempt, expires = 0, now + ttl
  if permits > 1 then
    expires = share(row, token)
  else
    local kept = unit and math.min(FOREVER, math.max(tonumber(ARGV[17]), now + tonumber(ARGV[18]))) or 0
    attempt = unit and (last and last.attempt or 0) + 1 or 0
    redis.call('HSET', lock, 't', token, 'n', nonce, 'x', expires, 'm', name, 'w', owner, 'u', unit or '', 'a', attempt,
      'g', now, 'k', kept)
    keep(lock, now, ttl, kept, name == key)
  end
  if row and row.more then
    tidy(row)
  end
  grants = grants + 1
  redis.call('ZADD', held, expires, key, -grants, GRANTS)
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
