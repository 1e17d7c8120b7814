#!lua flags=allow-oom
-- Takes a damaged document's digest away, so that its publisher stores it again, unless it has changed since.
-- KEYS[1] document
-- ARGV[1] digest
-- Returns the number of digests taken away.
if redis.call('HGET', KEYS[1], 'digest') == ARGV[1] then
  return redis.call('HDEL', KEYS[1], 'digest')
end
return 0
