#!lua flags=allow-oom
-- Stores how well a feed is fed and tells where it stands, if the epoch still runs.
-- KEYS[1] state
-- ARGV[1] epoch  ARGV[2] info  ARGV[3] PUBLISH or SPUBLISH  ARGV[4] channel  ARGV[5] beat
-- Returns 1 when done, 0 when another epoch runs.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'info', ARGV[2])
redis.call(ARGV[3], ARGV[4], ARGV[5])
return 1
