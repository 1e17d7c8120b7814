#!lua flags=allow-oom
-- Stores a feed's info and publishes its position, if the epoch is current and no reader asked for a new one.
-- KEYS[1] state  KEYS[2] report
-- ARGV[1] epoch  ARGV[2] info  ARGV[3] PUBLISH or SPUBLISH  ARGV[4] channel  ARGV[5] beat
-- Returns 1 when done, 0 when the bus has another epoch or needs a new one.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return 0
end
-- A report counts once; its key stays until it expires, so that further reports have no effect.
if redis.call('GET', KEYS[2]) == 'asked' then
  redis.call('SET', KEYS[2], 'heard', 'KEEPTTL')
  return 0
end
redis.call('HSET', KEYS[1], 'info', ARGV[2])
redis.call(ARGV[3], ARGV[4], ARGV[5])
return 1
