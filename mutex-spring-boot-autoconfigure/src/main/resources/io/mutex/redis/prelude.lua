-- What every script begins with. Times are microseconds since 1970 by the server's clock; all numbers stay
-- below 2^53, up to which Lua's doubles are exact.
--
-- KEYS of a lock, all in one slot:
--   lock   hash: t token, n nonce, x end of the lease (0 once released), m name, w owner, u unit ('' for none),
--          a attempt, g granted at, k until when what is known of the unit is kept at least (0 without
--          a unit), z tombstones (nonces that were released before they were granted), zb buried at
--   held   sorted set of the bucket: key -> end of its lease; and its sentinel, all below 0: '\1born' -> when the
--          sentinel was made, '\1lost' -> when a loss of data was found last, '\1grants' -> the number of grants
--   runs   hash: unit -> run record, lines of status, token, nonce, attempt, began, ended, not before,
--          kept until, owner, error; '' -> the unit of the latest success
--   order  sorted set: unit -> began

local DAY = 86400000
local TOKEN_RETENTION = 7 * DAY
local LONGEST_UNIT = 366 * DAY
local FOREVER = 9007199254740991 -- the year 2255
local TOMBSTONE_LIFETIME = 600 * 1000000
local MAX_TOMBSTONES = 30 * 33
local LATEST_SUCCESS = ''
local BORN, LOST, GRANTS = '\1born', '\1lost', '\1grants'
local SENTINEL_RETENTION = 36500 * DAY

-- Needed where Lua makes a string of a number: it writes 1.79e15 as 1.79e+15 by itself. What is handed to
-- redis.call or returned as a number keeps all its digits.
local function text(number)
  return string.format('%.0f', number)
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- What decides most requests; the rest is read when it is needed.
local function read(lock)
  local values = redis.call('HMGET', lock, 't', 'n', 'x', 'u', 'z')
  return values[1] and {
    token = tonumber(values[1]), nonce = values[2], expires = tonumber(values[3]), unit = values[4],
    tombstones = values[5] or ''
  }
end

local function readAll(lock)
  local row = read(lock)
  if row then
    local values = redis.call('HMGET', lock, 'm', 'w', 'a', 'g', 'k', 'zb')
    row.name, row.owner, row.attempt = values[1], values[2], tonumber(values[3])
    row.granted, row.kept, row.buried = tonumber(values[4]), tonumber(values[5]), tonumber(values[6]) or 0
  end
  return row
end

local function abandoned(row, now)
  return row and row.expires > 0 and row.expires <= now
end

local function describe(row)
  return { row.token, row.nonce, row.expires, row.name, row.owner, row.unit, row.attempt, row.granted }
end

-- When the newest of what is known of a key may vanish, in milliseconds since 1970. Of a key that is named in
-- the code it stays a year longer, since somebody may ask when it last ran.
local function vanishes(kept, constant)
  return math.ceil(kept / 1000) + (constant and LONGEST_UNIT or 0)
end

local function keep(lock, now, ttl, kept, constant)
  if kept > 0 then
    redis.call('PEXPIREAT', lock, math.max(vanishes(kept, constant), math.ceil((now + ttl) / 1000)) + DAY)
  else
    redis.call('PEXPIRE', lock, math.ceil(ttl / 1000) + TOKEN_RETENTION)
  end
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
