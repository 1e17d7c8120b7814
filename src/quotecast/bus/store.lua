#!lua flags=allow-oom
-- Stores a document and publishes its change, if the owner holds the feed's lease.
-- KEYS[1] lease  KEYS[2] document
-- ARGV[1] owner  ARGV[2] digest  ARGV[3] content  ARGV[4] PUBLISH or SPUBLISH  ARGV[5] channel
-- ARGV[6] change
-- Returns 1 when the document is stored, by this or an earlier call; 0 without the lease.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if redis.call('TYPE', KEYS[2])['ok'] ~= 'hash' then
  redis.call('DEL', KEYS[2])
end
if redis.call('HGET', KEYS[2], 'digest') ~= ARGV[2] then
  redis.call('HSET', KEYS[2], 'digest', ARGV[2], 'content', ARGV[3])
  redis.call(ARGV[4], ARGV[5], ARGV[6])
end
return 1
