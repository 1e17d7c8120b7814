-- Takes a key's lock if it is free, and tells what is known of the key.
--
-- KEYS[1]  lock
-- KEYS[2]  entry
-- KEYS[3]  failure
-- ARGV[1]  who asks
-- ARGV[2]  milliseconds after which the lock ends by itself
-- Returns 1 or 0 for taken or not, then the entry and the failure or nil.
--
-- Whoever held the lock before stored its entry before it gave the lock up, so the new holder sees it.

local taken = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return {taken and 1 or 0, redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])}
