-- Releases a feed's lease, if the owner still holds it.
-- KEYS[1] lease
-- ARGV[1] owner
-- Returns the number of released leases.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
