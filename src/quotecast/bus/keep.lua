-- Keeps a block of a feed's messages, and forgets old blocks, if the owner holds the feed's lease.
-- KEYS[1] lease  KEYS[2] kept blocks
-- ARGV[1] owner  ARGV[2] block  ARGV[3] 1 if the block ends with a state, else 0  ARGV[4] seconds to keep it
-- ARGV[5] id of the owner's last block; empty before its first
-- Returns {id, 1 if the owner's last block is the one before it, else 0}, an empty list without the lease.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return {}
end
local before = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local follows = before and before[1] == ARGV[5]
local now = redis.call('TIME')[1]
local function add()
  return redis.call('XADD', KEYS[2], '*', 'block', ARGV[2], 'state', ARGV[3])
end
-- The id is this server's time, by which readers wait: one clock for all.
local id = add()
if tonumber(string.match(id, '^%d+')) > (now + 60) * 1000 then
  -- The clock was ahead. Ids never go back: nothing would be due, or forgotten, before that time comes.
  redis.call('DEL', KEYS[2])
  id, follows = add(), false
end
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%d', (now - ARGV[4]) * 1000))
redis.call('PEXPIRE', KEYS[2], ARGV[4] * 1000)
return {id, follows and 1 or 0}
