#!lua flags=allow-oom
-- Replaces a feed's state by a new epoch, if the owner holds the lease.
-- KEYS[1] lease  KEYS[2] state  KEYS[3] quotes
-- ARGV[1] owner  ARGV[2] epoch  ARGV[3] seq  ARGV[4] info  ARGV[5] PUBLISH or SPUBLISH  ARGV[6] channel
-- ARGV[7] beat
-- ARGV[8..] symbol, stored, symbol, stored ...
-- Returns 1 when done, 0 without the lease.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
-- Deletes the state too: HSET fails on a value of another type.
redis.call('DEL', KEYS[2], KEYS[3])
for i = 8, #ARGV, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[2], 'epoch', ARGV[2], 'seq', ARGV[3], 'info', ARGV[4])
redis.call(ARGV[5], ARGV[6], ARGV[7])
return 1
