#!lua flags=allow-oom
-- Stores and publishes a batch, if the stored state is the one just before it.
-- KEYS[1] state  KEYS[2] quotes
-- ARGV[1] epoch  ARGV[2] seq before  ARGV[3] seq  ARGV[4] PUBLISH or SPUBLISH  ARGV[5] channel
-- ARGV[6] batch
-- ARGV[7..] symbol, stored, symbol, stored ...
-- Returns 1 when done, 0 when the stored state is another one.
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return 0
end
for i = 7, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[1], 'seq', ARGV[3])
redis.call(ARGV[4], ARGV[5], ARGV[6])
return 1
