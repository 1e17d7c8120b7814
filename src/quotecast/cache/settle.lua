-- Stores the new state of a key, and releases its lock.
--
-- KEYS[1]  lock
-- KEYS[2]  entry
-- KEYS[3]  failure
-- ARGV[1]  owner
-- ARGV[2]  entry, or empty
-- ARGV[3]  milliseconds after which the entry expires
-- ARGV[4]  failure, or empty
-- ARGV[5]  milliseconds after which the failure expires
-- Returns 1; or 0, having done nothing, when the lock expired and another owner holds it.

local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
if ARGV[2] ~= '' then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
  redis.call('DEL', KEYS[3])
end
if ARGV[4] ~= '' then
  redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
end
redis.call('DEL', KEYS[1])
return 1
