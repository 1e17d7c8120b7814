#!lua flags=allow-oom
-- Replaces a feed's state by a new epoch, if the owner holds the lease.
-- KEYS[1] lease  KEYS[2] state  KEYS[3] quotes  KEYS[4] parts of bars  KEYS[5] closings of bars
-- KEYS[6] crossings
-- ARGV[1] owner  ARGV[2] epoch  ARGV[3] seq  ARGV[4] info  ARGV[5] PUBLISH or SPUBLISH  ARGV[6] channel
-- ARGV[7] beat  ARGV[8] market
-- ARGV[9] maximum number of closings  ARGV[10] maximum number of crossings
-- ARGV[11] number of quotes  ARGV[12] number of parts  ARGV[13] number of closings
-- ARGV[14..] symbol, stored ..., then symbol, parts ..., then id, epoch, seq, closing ..., then id, crossing ...
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
local quotes_end = 13 + 2 * ARGV[11]
local parts_end = quotes_end + 2 * ARGV[12]
local closings_end = parts_end + 4 * ARGV[13]
for i = 14, quotes_end, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i = quotes_end + 1, parts_end, 2 do
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
end
-- A Redis that lost its data gets back the closings and crossings that its leader remembers.
for _, key in ipairs({KEYS[5], KEYS[6]}) do
  if redis.call('TYPE', key)['ok'] ~= 'stream' then
    redis.call('DEL', key)
  end
end
for i = parts_end + 1, closings_end, 4 do
  -- Fails, and should, for a minute that is stored.
  redis.pcall('XADD', KEYS[5], 'MAXLEN', ARGV[9], ARGV[i], 'epoch', ARGV[i + 1], 'seq', ARGV[i + 2], 'closing',
    ARGV[i + 3])
end
for i = closings_end + 1, #ARGV, 2 do
  -- Fails too for one that is stored.
  redis.pcall('XADD', KEYS[6], 'MAXLEN', ARGV[10], ARGV[i], 'crossing', ARGV[i + 1])
end
redis.call('HSET', KEYS[2], 'epoch', ARGV[2], 'seq', ARGV[3], 'info', ARGV[4], 'market', ARGV[8])
redis.call(ARGV[5], ARGV[6], ARGV[7])
return 1
