-- Reads a feed's complete state at one instant.
-- KEYS[1] state  KEYS[2] quotes  KEYS[3] parts of bars  KEYS[4] closings of bars
-- ARGV[1] maximum number of closings  ARGV[2] Unix time: closings up to it are left out
-- Returns {epoch, seq, info, {symbol, stored ...}, {symbol, parts ...}, {{epoch, seq, closing} ...}}, or an empty
-- list before any epoch. Closings are the newest, and the newest of them comes first.
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'info')
if not state[1] then
  return {}
end
local closings = {}
for i, entry in ipairs(redis.call('XREVRANGE', KEYS[4], '+', '(' .. ARGV[2] .. '-0', 'COUNT', ARGV[1])) do
  closings[i] = {entry[2][2], entry[2][4], entry[2][6]}
end
return {state[1], state[2], state[3], redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]), closings}
