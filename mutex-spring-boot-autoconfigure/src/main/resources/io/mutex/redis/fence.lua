-- What every script ends with that asks the guard of a resource. Before it stands the work, a function of the
-- keys and arguments behind those of the guard.
--
-- KEYS guard, then those of the work; all in one slot
-- ARGV key, token, nonce, strict (1 or 0), retention in milliseconds, then those of the work
--
-- guard  hash: k the key that the resource belongs to, t token and n nonce of the grant that was accepted last

local function refusal(registers)
  local row = redis.call('HMGET', KEYS[1], 'k', 't', 'n')
  if not row[1] then
    return not registers and { 'UNREGISTERED' }
  end
  if row[1] ~= ARGV[1] then
    return { 'FOREIGN', row[1] }
  end
  local accepted, token = tonumber(row[2]), tonumber(ARGV[2])
  if token == accepted and row[3] == ARGV[3] then
    return false
  end
  if token > accepted then
    return not registers and { 'UNREGISTERED' }
  end
  return { 'STALE', row[2] }
end

local function accept()
  redis.call('HSET', KEYS[1], 'k', ARGV[1], 't', ARGV[2], 'n', ARGV[3])
end

local function stay()
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end

local function register()
  local refused = refusal(true)
  if not refused then
    accept()
    stay()
  end
  return refused or { 'ACCEPTED' }
end

local function guarded(work)
  local strict = ARGV[4] == '1'
  local refused = refusal(not strict)
  if refused then
    return refused
  end
  if not strict then
    -- At once, since an error of the work keeps what was written before.
    accept()
    stay()
  end
  local keys, arguments = {}, {}
  for i = 2, #KEYS do
    keys[i - 1] = KEYS[i]
  end
  for i = 6, #ARGV do
    arguments[i - 5] = ARGV[i]
  end
  local result = work(keys, arguments)
  if type(result) == 'table' and result.err then
    return result
  end
  if strict then
    -- Last, since a full memory refuses the first write of a script only.
    stay()
  end
  return { 'ACCEPTED', result }
end

