-- What every script begins with: what is stored, and what is needed most. Times are microseconds since 1970 by the
-- server's clock; all numbers stay below 2^53, up to which Lua's doubles are exact.
--
-- KEYS of a lock, all in one slot:
--   lock   hash: t token, n nonce, x end of the lease (0 once released), m name, w owner, u unit ('' for none),
--          a attempt, g granted at, k until when what is known of the unit is kept at least (0 without
--          a unit): all of the latest exclusive grant, but for t, which every grant raises.
--          q is there where there may be more to look at: z tombstones (nonces that were released before they
--          were granted), zb buried at; the place of the next holder, r the channel of its waiter, ru reserved
--          until; and those who hold together, each under its nonce: lines of token, granted at, name, owner
--   shared sorted set of those who hold together: nonce -> end of its lease; below 0 once it was released -> when.
--          Nobody lives in it while the end of the exclusive lease, x, is not 0
--   held   sorted set of the bucket: key -> end of its lease; and its sentinel, all below 0: '\1born' -> when the
--          sentinel was made, '\1lost' -> when a loss of data was found last, '\1grants' -> the number of grants
--   runs   hash: unit -> run record, lines of status, token, nonce, attempt, began, ended, not before,
--          kept until, owner, error; '' -> the unit of the latest success
--   order  sorted set: unit -> began

local LIMIT = 9007199254740992 -- of tokens
local DAY = 86400000
local TOKEN_RETENTION = 7 * DAY
local LONGEST_UNIT = 366 * DAY
local FOREVER = 9007199254740991 -- the year 2255
local TOMBSTONE_LIFETIME = 600 * 1000000
local MAX_TOMBSTONES = 30 * 33
local MAX_RELEASED = 1000
local LATEST_SUCCESS = ''
local BORN, LOST, GRANTS = '\1born', '\1lost', '\1grants'
local SENTINEL_RETENTION = 2 * 36500 * DAY -- longer than the longest lease, so that it has to be set only once

-- Needed where Lua makes a string of a number: it writes 1.79e15 as 1.79e+15 by itself. What is handed to
-- redis.call or returned as a number keeps all its digits.
local function text(number)
  return string.format('%.0f', number)
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
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

