-- Reads a feed's complete state at one instant.
-- KEYS[1] state  KEYS[2] quotes
-- Returns {epoch, seq, info, {symbol, stored, symbol, stored ...}}, or an empty list before any epoch.
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'info')
if not state[1] then
  return {}
end
return {state[1], state[2], state[3], redis.call('HGETALL', KEYS[2])}
