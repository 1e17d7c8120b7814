-- Keeps a block of a feed's messages, and forgets old blocks, if the owner holds the feed's lease.
-- KEYS[1] lease  KEYS[2] kept blocks
-- ARGV[1] owner  ARGV[2] block  ARGV[3] 1 if the block ends with a state, else 0  ARGV[4] seconds to keep it
-- Returns the number of kept blocks, 0 without the lease.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local now = redis.call('TIME')[1]
local function add()
  return redis.call('XADD', KEYS[2], '*', 'block', ARGV[2], 'state', ARGV[3])
end
-- The id is this server's time, by which readers wait: one clock for all.
if tonumber(string.match(add(), '^%d+')) > (now + 60) * 1000 then
  -- The clock was ahead. Ids never go back: nothing would be due, or forgotten, before that time comes.
  redis.call('DEL', KEYS[2])
  add()
end
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%d', (now - ARGV[4]) * 1000))
redis.call('PEXPIRE', KEYS[2], ARGV[4] * 1000)
return redis.call('XLEN', KEYS[2])
