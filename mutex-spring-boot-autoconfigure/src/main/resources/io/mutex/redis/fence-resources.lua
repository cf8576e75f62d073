-- The resources beside the one named like it that a key has had a grant registered at. KEYS resources
-- ARGV [retention in milliseconds, a resource to add]

if #ARGV > 0 then
  redis.call('SADD', KEYS[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return {}
end
return redis.call('SMEMBERS', KEYS[1])
