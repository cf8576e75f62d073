-- The remembered runs of a key, the latest beginning first: unit and record in turn. KEYS runs, order
-- ARGV limit

local answer = {}
for _, unit in ipairs(redis.call('ZREVRANGE', KEYS[2], 0, ARGV[1] - 1)) do
  local packed = redis.call('HGET', KEYS[1], unit)
  if packed then
    answer[#answer + 1] = unit
    answer[#answer + 1] = packed
  end
end
return answer
