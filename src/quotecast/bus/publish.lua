#!lua flags=allow-oom
-- Stores and publishes a batch, if the stored state is the one just before it, and no other owner has the lease.
-- KEYS[1] lease  KEYS[2] state  KEYS[3] quotes  KEYS[4] parts of bars  KEYS[5] closings of bars
-- KEYS[6] crossings
-- ARGV[1] owner  ARGV[2] epoch  ARGV[3] seq before  ARGV[4] seq  ARGV[5] PUBLISH or SPUBLISH  ARGV[6] channel
-- ARGV[7] batch
-- ARGV[8] maximum number of closings  ARGV[9] maximum number of crossings
-- ARGV[10] number of quotes  ARGV[11] number of parts  ARGV[12] number of closings
-- ARGV[13..] symbol, stored ..., then symbol, parts ..., then id, epoch, seq, closing ..., then id, crossing ...
-- Returns 1 when done, 0 when the stored state or the owner is another one.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return 0
end
local state = redis.call('HMGET', KEYS[2], 'epoch', 'seq')
if state[1] ~= ARGV[2] or state[2] ~= ARGV[3] then
  return 0
end
local quotes_end = 12 + 2 * ARGV[10]
local parts_end = quotes_end + 2 * ARGV[11]
local closings_end = parts_end + 4 * ARGV[12]
for i = 13, quotes_end, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i = quotes_end + 1, parts_end, 2 do
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
end
for i = parts_end + 1, closings_end, 4 do
  -- Fails, and should, for a minute that is stored.
  redis.pcall('XADD', KEYS[5], 'MAXLEN', ARGV[8], ARGV[i], 'epoch', ARGV[i + 1], 'seq', ARGV[i + 2], 'closing',
    ARGV[i + 3])
end
for i = closings_end + 1, #ARGV, 2 do
  -- Fails too for one that is stored.
  redis.pcall('XADD', KEYS[6], 'MAXLEN', ARGV[9], ARGV[i], 'crossing', ARGV[i + 1])
end
redis.call('HSET', KEYS[2], 'seq', ARGV[4])
redis.call(ARGV[5], ARGV[6], ARGV[7])
return 1
