#!lua flags=allow-oom
-- Takes or renews a feed's lease.
-- KEYS[1] lease  KEYS[2] state
-- ARGV[1] owner  ARGV[2] milliseconds  ARGV[3] "heir" for one that needs the state
-- Returns 1 when the owner holds the lease, 0 when another one does, -1 when nobody does and an heir finds no state.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
-- A key of another type counts as a state: the next leader replaces it.
if not holder and ARGV[3] == 'heir' and not redis.pcall('HGET', KEYS[2], 'epoch') then
  return -1
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
