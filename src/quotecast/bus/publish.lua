#!lua flags=allow-oom
-- Stores and publishes a batch, if the stored state is the one just before it.
-- KEYS[1] state  KEYS[2] quotes  KEYS[3] parts of bars  KEYS[4] closings of bars
-- ARGV[1] epoch  ARGV[2] seq before  ARGV[3] seq  ARGV[4] PUBLISH or SPUBLISH  ARGV[5] channel
-- ARGV[6] batch
-- ARGV[7] maximum number of closings  ARGV[8] number of quotes  ARGV[9] number of parts
-- ARGV[10..] symbol, stored ..., then symbol, parts ..., then through, closing ...
-- Returns 1 when done, 0 when the stored state is another one.
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return 0
end
local quotes_end = 9 + 2 * ARGV[8]
local parts_end = quotes_end + 2 * ARGV[9]
for i = 10, quotes_end, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
for i = quotes_end + 1, parts_end, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i = parts_end + 1, #ARGV, 2 do
  -- Fails, and should, for a minute that is stored.
  redis.pcall('XADD', KEYS[4], 'MAXLEN', ARGV[7], ARGV[i] .. '-0', 'epoch', ARGV[1], 'seq', ARGV[3], 'closing',
    ARGV[i + 1])
end
redis.call('HSET', KEYS[1], 'seq', ARGV[3])
redis.call(ARGV[4], ARGV[5], ARGV[6])
return 1
