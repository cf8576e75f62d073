-- The success of a key that began last: unit and record, or nothing. KEYS runs, order

local runs, order = KEYS[1], KEYS[2]

local function success(unit)
  local packed = unit and redis.call('HGET', runs, unit)
  return packed and parse(packed).status == 'D' and { unit, packed }
end

local noted = success(redis.call('HGET', runs, LATEST_SUCCESS))
if noted then
  return noted
end
-- It was reopened.
for _, unit in ipairs(redis.call('ZREVRANGE', order, 0, 999)) do
  local found = success(unit)
  if found then
    return found
  end
end
return {}
