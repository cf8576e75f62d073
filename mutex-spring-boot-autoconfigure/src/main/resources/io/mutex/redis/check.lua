-- Tries every command that the scripts use, and leaves nothing behind. KEYS probe, other
-- The answer: INFO of four sections, then the refused commands, each followed by the reason.

local probe, other = KEYS[1], KEYS[2]
local commands = {
  { 'HSET', probe, 'f', '1' }, { 'PEXPIRE', probe, '1000' }, { 'HMGET', probe, 'f' }, { 'HGET', probe, 'f' },
  { 'PEXPIREAT', probe, '99999999999999' }, { 'PTTL', probe }, { 'HDEL', probe, 'f' }, { 'TIME' },
  { 'ZADD', other, 'XX', '1', 'm' }, { 'ZREM', other, 'm' }, { 'ZMSCORE', other, 'm' },
  { 'ZRANGEBYSCORE', other, '0', '1' },
  { 'ZRANGE', other, '0', '0' }, { 'ZREVRANGE', other, '0', '0' }
}

local function info(section)
  local reply = redis.pcall('INFO', section)
  return (type(reply) == 'string') and reply or ''
end

local answer = { info('server'), info('memory'), info('persistence'), info('replication') }
for _, command in ipairs(commands) do
  local reply = redis.pcall(unpack(command))
  if type(reply) == 'table' and reply.err then
    answer[#answer + 1] = command[1]
    answer[#answer + 1] = reply.err
  end
end
return answer
