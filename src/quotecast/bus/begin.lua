#!lua flags=allow-oom
-- Replaces a feed's state by a new epoch, if the owner holds the lease.
-- KEYS[1] lease  KEYS[2] state  KEYS[3] quotes  KEYS[4] parts of bars  KEYS[5] closings of bars
-- ARGV[1] owner  ARGV[2] epoch  ARGV[3] seq  ARGV[4] info  ARGV[5] PUBLISH or SPUBLISH  ARGV[6] channel
-- ARGV[7] beat  ARGV[8] market
-- ARGV[9] maximum number of closings  ARGV[10] number of quotes  ARGV[11] number of parts
-- ARGV[12..] symbol, stored ..., then symbol, parts ..., then through, closing ...
-- Returns 1 when done, 0 without the lease.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
-- Bars of two markets never mix, and the minutes of one may be ahead of the other's.
local market = redis.pcall('HGET', KEYS[2], 'market')
if type(market) == 'string' and market ~= ARGV[8] then
  redis.call('DEL', KEYS[5])
end
-- Deletes the state too: HSET fails on a value of another type.
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
local quotes_end = 11 + 2 * ARGV[10]
local parts_end = quotes_end + 2 * ARGV[11]
for i = 12, quotes_end, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i = quotes_end + 1, parts_end, 2 do
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
end
-- A Redis that lost its data gets the closings back that its leader remembers.
if redis.call('TYPE', KEYS[5])['ok'] ~= 'stream' then
  redis.call('DEL', KEYS[5])
end
for i = parts_end + 1, #ARGV, 2 do
  -- Fails, and should, for a minute that is stored.
  redis.pcall('XADD', KEYS[5], 'MAXLEN', ARGV[9], ARGV[i] .. '-0', 'epoch', ARGV[2], 'seq', ARGV[3], 'closing',
    ARGV[i + 1])
end
redis.call('HSET', KEYS[2], 'epoch', ARGV[2], 'seq', ARGV[3], 'info', ARGV[4], 'market', ARGV[8])
redis.call(ARGV[5], ARGV[6], ARGV[7])
return 1
