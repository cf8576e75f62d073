-- What the scripts share.

-- What decides most requests; the rest is read when it is needed.
local function read(lock)
  local values = redis.call('HMGET', lock, 't', 'n', 'x', 'u', 'q')
  return values[1] and {
    token = tonumber(values[1]), nonce = values[2], expires = tonumber(values[3]), unit = values[4],
    more = values[5], tombstones = '', buried = 0, reserved = 0
  }
end

local function readMore(lock, row)
  if row.more then
    local values = redis.call('HMGET', lock, 'z', 'zb', 'r', 'ru')
    row.tombstones, row.buried = values[1] or '', tonumber(values[2]) or 0
    row.waiter, row.reserved = values[3], tonumber(values[4]) or 0
  end
end

local function readAll(lock)
  local row = read(lock)
  if row then
    local values = redis.call('HMGET', lock, 'm', 'w', 'a', 'g', 'k')
    row.name, row.owner, row.attempt = values[1], values[2], tonumber(values[3])
    row.granted, row.kept = tonumber(values[4]), tonumber(values[5])
    readMore(lock, row)
  end
  return row
end

local function abandoned(row, now)
  return row and row.expires > 0 and row.expires <= now
end

local function describe(row)
  return { row.token, row.nonce, row.expires, row.name, row.owner, row.unit, row.attempt, row.granted }
end

-- One of those who hold together, described like a row.
local function describeOne(lock, nonce, expires)
  local token, granted, name, owner = string.match(redis.call('HGET', lock, nonce) or '',
    '^(%d+)\n(%d+)\n([^\n]*)\n(.*)$')
  return token and { tonumber(token), nonce, expires, name, owner, '', 0, tonumber(granted) }
end

-- Those who hold a key, those first whose leases end last, each described like a row.
local function holders(lock, shared, row, now, limit)
  if row and row.expires > now then
    return { describe(row) }
  end
  local live = {}
  if row and row.more then
    local members = redis.call('ZREVRANGE', shared, 0, limit - 1, 'WITHSCORES')
    for i = 1, #members, 2 do
      local expires = tonumber(members[i + 1])
      if expires > now then
        live[#live + 1] = describeOne(lock, members[i], expires) or nil
      end
    end
  end
  return live
end

-- The end of the lease of one of those who hold together, below 0 once it was released, or nil.
local function expiryOf(shared, nonce)
  return tonumber(redis.call('ZMSCORE', shared, nonce)[1])
end

-- When the last of those who hold together ends, or 0.
local function lastEnd(shared)
  return tonumber(redis.call('ZRANGE', shared, -1, -1, 'WITHSCORES')[2]) or 0
end

-- Lists a key that is held together as long as somebody holds it.
local function list(held, shared, key, now)
  local last = lastEnd(shared)
  if last > now then
    redis.call('ZADD', held, last, key)
  else
    redis.call('ZREM', held, key)
  end
end

local function remove(lock, shared, nonces)
  for i = 1, #nonces, 1000 do
    local last = math.min(i + 999, #nonces)
    redis.call('HDEL', lock, unpack(nonces, i, last))
    redis.call('ZREM', shared, unpack(nonces, i, last))
  end
end

-- Refuses late requests with these nonces.
local function bury(lock, row, nonces, now)
  local live = (row.buried > now - TOMBSTONE_LIFETIME) and row.tombstones or ''
  local buried = table.concat(nonces, ' ', 1, math.min(#nonces, MAX_TOMBSTONES / 33)) .. ' ' .. live
  row.tombstones, row.buried = string.sub(buried, 1, MAX_TOMBSTONES), now
  redis.call('HSET', lock, 'q', 1, 'z', row.tombstones, 'zb', now)
end

-- Ends those who hold together, or held and died.
local function removeAll(lock, shared, row, now)
  local nonces = redis.call('ZRANGEBYSCORE', shared, '(0', '+inf')
  if #nonces > 0 then
    remove(lock, shared, nonces)
    bury(lock, row, nonces, now)
  end
end

-- Forgets who released long ago, and who released before too many others.
local function forgetReleased(shared, now)
  local old = redis.call('ZRANGEBYSCORE', shared, '(' .. text(TOMBSTONE_LIFETIME - now), '(0', 'LIMIT', 0, 100)
  local beyond = redis.call('ZRANGE', shared, MAX_RELEASED, MAX_RELEASED + 10, 'WITHSCORES')
  for i = 1, #beyond, 2 do
    if tonumber(beyond[i + 1]) < 0 then
      old[#old + 1] = beyond[i]
    end
  end
  if #old > 0 then
    redis.call('ZREM', shared, unpack(old))
  end
end

-- Tells the waiter whose turn it is. It is a hint: if it may not be sent, the waiter finds out by asking.
local function announce(lock, row, key)
  if row.more then
    local place = redis.call('HMGET', lock, 'r', 'ru')
    if place[1] and tonumber(place[2]) > clock() then
      redis.pcall('PUBLISH', place[1], key)
    end
  end
end

-- For those who hold together: as long as the last of them.
local function keepShared(lock, shared, now, last, kept, constant)
  keep(lock, now, last - now, kept, constant)
  redis.call('PEXPIRE', shared, math.ceil((last - now) / 1000) + TOKEN_RETENTION + DAY)
end

local function pack(status, row, ended, notBefore, err)
  return table.concat({ status, text(row.token), row.nonce, text(row.attempt), text(row.granted), text(ended),
    text(notBefore), text(row.kept), row.owner, err }, '\n')
end

local function parse(packed)
  if not packed then
    return nil
  end
  local line = '([^\n]*)\n'
  local status, nonce, attempt, began, ended, notBefore, kept = string.match(packed,
    '^' .. line .. '[^\n]*\n' .. line .. line .. line .. line .. line .. line)
  return {
    status = status, nonce = nonce, attempt = tonumber(attempt), began = tonumber(began), ended = tonumber(ended),
    notBefore = tonumber(notBefore), kept = tonumber(kept), packed = packed
  }
end

-- The two newest records and the latest success stay, and each other one as long as it is to be kept; a run
-- removes at most ten. `spared` is the unit that a grant is about, or nil.
local function prune(runs, order, now, spared)
  local old = redis.call('ZRANGE', order, 0, 11)
  local latest = (#old > 2) and redis.call('HGET', runs, LATEST_SUCCESS)
  for i = 1, #old - 2 do
    local unit = old[i]
    if unit ~= latest and unit ~= spared then
      local run = parse(redis.call('HGET', runs, unit))
      if run and run.kept > now then
        return
      end
      redis.call('HDEL', runs, unit)
      redis.call('ZREM', order, unit)
    end
  end
end

local function remember(runs, order, row, key, now, status, notBefore, err, spared)
  local left = redis.call('PTTL', runs)
  redis.call('HSET', runs, row.unit, pack(status, row, now, notBefore, err))
  if status == 'D' then
    redis.call('HSET', runs, LATEST_SUCCESS, row.unit)
  end
  redis.call('ZADD', order, row.granted, row.unit)
  local vanish = vanishes(row.kept, row.name == key)
  if left < 0 or now / 1000 + left < vanish then
    redis.call('PEXPIREAT', runs, vanish + DAY)
    redis.call('PEXPIREAT', order, vanish + DAY)
  end
  prune(runs, order, now, spared)
end

local function doubt(runs, order, row, key, now, spared)
  if row.unit ~= '' then
    remember(runs, order, row, key, now, 'X', 0, '', spared)
  end
end
