-- Forgets old closings, but for the newest.
-- KEYS[1] closings of bars
-- ARGV[1] Unix time of the newest one to forget  ARGV[2] number of newest ones that stay
-- Returns the number of closings that it forgot.
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', ARGV[2])
local oldest = newest[tonumber(ARGV[2])]
if not oldest then
  return 0
end
local stays = math.min(tonumber(ARGV[1]) + 1, tonumber(string.match(oldest[1], '^%d+')))
return redis.call('XTRIM', KEYS[1], 'MINID', string.format('%d-0', stays))
