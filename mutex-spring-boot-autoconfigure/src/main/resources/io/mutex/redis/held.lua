-- The keys of one bucket that are held, those that expire first in front. KEYS held
-- ARGV limit

return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. text(clock()), '+inf', 'LIMIT', 0, ARGV[1])
