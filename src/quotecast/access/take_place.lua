-- KEYS[1]: sorted set of a key's sockets by the end of their leases, in Unix milliseconds
-- ARGV[1]: name of the socket, ARGV[2]: most sockets at once, ARGV[3]: length of a lease in milliseconds
-- Returns 1 if the socket has a place, else 0.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
