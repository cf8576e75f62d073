-- What ACQUIRE begins with: the most frequent grant, before anything is defined that it does not need. The key was
-- released, and there is nothing more to look at, so nobody has the place of the next holder; the request is for the
-- key alone; the unit has no record; the server has lost nothing. All else is left to the rest of the script, and until
-- that is clear nothing is written. What the asking instance knows by itself is not answered: the last token follows
-- from the first, the attempt is the first, and the sentinel is the one it has seen.
--
-- Much of the time goes into making strings of numbers, and numbers of strings, so each is made but once.

do
  local lock, held, unit = KEYS[1], KEYS[2], ARGV[12]
  local row = redis.call('HMGET', lock, 'x', 'q', 'n', 't')
  if row[1] == '0' and not row[2] and row[3] ~= ARGV[1] and (ARGV[11] == '' or string.sub(ARGV[11], 1, 2) == '1 ')
      and not (unit and redis.call('HGET', KEYS[3], unit)) then
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local sentinel = redis.call('ZMSCORE', held, BORN, LOST, GRANTS)
    local born, lost, grants = -(sentinel[1] or 0), -(sentinel[2] or 0), -(sentinel[3] or 0)
    local first = math.max(row[4] + 1, now, ARGV[3] + 1)
    local token = first + ARGV[4] - 1
    if born > 0 and born == tonumber(ARGV[8]) and tonumber(ARGV[9]) <= grants and lost + ARGV[10] <= now
        and token < LIMIT and not (unit and ARGV[13] ~= '' and ARGV[13] - now > tonumber(ARGV[14])) then
      local ttl = tonumber(ARGV[2])
      local kept = unit and math.min(FOREVER, math.max(tonumber(ARGV[17]), now + ARGV[18]))
      local granted = (#time[2] == 6) and time[1] .. time[2] or text(now)
      local expires = text(now + ttl)
      redis.call('HSET', lock, 't', (token == now) and granted or text(token), 'n', ARGV[1], 'x', expires, 'm', ARGV[5],
        'w', ARGV[6], 'u', unit or '', 'a', unit and '1' or '0', 'g', granted, 'k', kept or '0')
      keep(lock, now, ttl, kept or 0, ARGV[5] == ARGV[7])
      redis.call('ZADD', held, expires, ARGV[7], -grants - 1, GRANTS)
      return { 'TAKEN', first, grants + 1 }
    end
  end
end

