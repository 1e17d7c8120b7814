#!lua flags=allow-oom
-- Stores how well a feed is fed and tells where it stands, if the epoch still runs and no reader asks for another.
-- KEYS[1] state  KEYS[2] report
-- ARGV[1] epoch  ARGV[2] info  ARGV[3] PUBLISH or SPUBLISH  ARGV[4] channel  ARGV[5] beat
-- Returns 1 when done, 0 when another epoch runs or has to begin.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return 0
end
-- A report asks once; it stays until it expires, so that further ones are ignored meanwhile.
if redis.call('GET', KEYS[2]) == 'asked' then
  redis.call('SET', KEYS[2], 'heard', 'KEEPTTL')
  return 0
end
redis.call('HSET', KEYS[1], 'info', ARGV[2])
redis.call(ARGV[3], ARGV[4], ARGV[5])
return 1
