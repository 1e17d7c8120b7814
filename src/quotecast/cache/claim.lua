-- Takes a key's lock if it is free, and returns the key's state.
--
-- KEYS[1]  lock
-- KEYS[2]  entry
-- KEYS[3]  failure
-- ARGV[1]  owner
-- ARGV[2]  milliseconds after which the lock expires
-- Returns 1 if the owner now holds the lock, else 0; then the entry and the failure, or nil.
--
-- The previous holder stored its entry before it released the lock, so the new holder sees that entry.

local taken = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return {taken and 1 or 0, redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])}
