-- Exact sliding windows: each key is the log of the admitted requests' times, oldest first.
--
-- KEYS[i]        list of the i-th check; a key that comes twice is checked twice, in order
-- ARGV[1]        window: microseconds
-- ARGV[2]        limit of each check, separated by commas: requests
-- Returns three integers per check: 1 or 0 for admitted or refused, the number of free slots, and the
-- microseconds until the oldest counted request leaves the window.
--
-- A request made at t counts in [t, t + window). Each check pushes at most one time and each time is
-- popped once, so a check costs O(1) amortised. The clock is the server's, one for all workers.

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[1])
local limits = string.gmatch(ARGV[2], '%d+')
local answer = {}

for _, key in ipairs(KEYS) do
  local limit = tonumber(limits())

  -- The clock may step back, or a new master's clock may be behind. The whole log then moves back until its
  -- newest entry has the present time. Every entry still counts for a whole window, so the limit holds; and
  -- for no longer than a window from now, so the key is not blocked.
  local ahead = tonumber(redis.call('LINDEX', key, -1) or 0) - clock
  if ahead > 0 then
    local entries = redis.call('LRANGE', key, 0, -1)
    redis.call('DEL', key)
    for _, entry in ipairs(entries) do
      redis.call('RPUSH', key, string.format('%.0f', tonumber(entry) - ahead))
    end
    redis.call('PEXPIRE', key, math.ceil(window / 1000))
  end

  local oldest = tonumber(redis.call('LINDEX', key, 0) or clock)
  while oldest + window <= clock do
    redis.call('LPOP', key)
    oldest = tonumber(redis.call('LINDEX', key, 0) or clock)
  end

  local count = redis.call('LLEN', key)
  local admitted = 0
  if count < limit then
    -- Lua's own conversion would write so large a number with an exponent.
    count = redis.call('RPUSH', key, string.format('%.0f', clock))
    redis.call('PEXPIRE', key, math.ceil(window / 1000))
    admitted = 1
  end

  answer[#answer + 1] = admitted
  answer[#answer + 1] = math.max(limit - count, 0)
  answer[#answer + 1] = oldest + window - clock
end

return answer
