-- Frees the slot of an admitted request: the newest entry goes, which is the request's own, or one of the same
-- moment. A leased entry stays, because its worker may still admit a request for it.
-- KEYS[1] the key's list, see window.lua
-- Returns 1 if a slot was freed, else 0.

local newest = redis.call('LINDEX', KEYS[1], -1)
if not newest or string.find(newest, ':', 1, true) then
  return 0
end
redis.call('RPOP', KEYS[1])
return 1
