-- What RELEASE begins with: the most frequent one, before anything is defined that it does not need. The holder
-- releases, leaves no doubt, and nobody waits. All else is left to the rest of the script.

do
  local row = redis.call('HMGET', KEYS[1], 'n', 'x', 'q', 'u')
  if row[1] == ARGV[1] and row[2] ~= '0' and not row[3] and (row[4] == '' or ARGV[2] == '0') then
    -- First what is not refused when the memory is full: the rest of the script is not refused either.
    redis.call('ZREM', KEYS[2], ARGV[3])
    redis.call('HSET', KEYS[1], 'x', '0')
    return { 'SETTLED' }
  end
end

