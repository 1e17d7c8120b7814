#!lua flags=allow-oom
-- Takes or renews a feed's lease.
-- KEYS[1] lease
-- ARGV[1] owner  ARGV[2] milliseconds
-- Returns 1 when the owner holds the lease, else 0.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
