-- KEYS[1]: sorted set of a key's sockets by the end of their leases, in Unix milliseconds
-- ARGV[1]: length of a lease in milliseconds, ARGV[2...]: names of open sockets
-- Returns the number of names. Sockets that Redis has lost get their places back.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for index = 2, #ARGV do
  redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return #ARGV - 1
