#!lua flags=allow-oom
-- Asks a feed's leader for a new epoch; further requests are ignored until this one expires.
-- KEYS[1] report
-- ARGV[1] seconds
-- Returns 1.
redis.call('SET', KEYS[1], 'asked', 'NX', 'EX', ARGV[1])
return 1
