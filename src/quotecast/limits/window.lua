-- Exact sliding windows: each key is the log of the admitted requests' times, oldest first.
--
-- KEYS[i]        list of the i-th check; a key that comes twice is checked twice, in order
-- ARGV[1]        window: microseconds
-- ARGV[2]        limit of each check, separated by commas: requests; `limit/slots/name` asks for a lease of
--                so many slots, the check's own among them, under a name of digits that no other lease has
-- Returns three integers per check: 1 or 0 for admitted or refused, the number of free slots, and the
-- microseconds until the oldest counted request leaves the window. In place of the first a granted lease has
-- three: the number of slots, their time and their name.
--
-- A request made at t counts in [t, t + window). Each check pushes at most one time and each time is
-- popped once, so a check costs O(1) amortised. The clock is the server's, one for all workers.
--
-- A leased slot has the time at which its lease ends, so it counts for a whole window after any request that
-- the lease admits. Its entry is `time:name`: the name marks a time that may be ahead of the clock, and lets
-- the worker give back the slots that it did not use.

-- Microseconds of a lease; `window.py` has the same number.
local LEASE = 100000
-- A lease takes at most this part of the free slots, and none where fewer than so many are free.
local PART = 16
local LEAST_FREE = 1024

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[1])
local asked = string.gmatch(ARGV[2], '(%d+)/?(%d*)/?(%d*)')
local answer = {}

local function time_of(entry)
  return tonumber(string.match(entry or '0', '^%d+'))
end

-- Lua's own conversion would write so large a number with an exponent.
local function text_of(at)
  return string.format('%.0f', at)
end

for _, key in ipairs(KEYS) do
  local limit, slots, name = asked()
  limit, slots = tonumber(limit), tonumber(slots) or 1

  -- The clock may step back, or a new master's clock may be behind. The whole log then moves back until its
  -- newest entry has the present time, or that of a lease made now. Every entry still counts for a whole
  -- window, so the limit holds; and for no longer than a window from now, so the key is not blocked.
  local newest = redis.call('LINDEX', key, -1)
  local last = time_of(newest)
  local back = last - clock
  if back > 0 and string.find(newest, ':', 1, true) then
    back = back - LEASE
  end
  if back > 0 then
    local entries = redis.call('LRANGE', key, 0, -1)
    redis.call('DEL', key)
    for _, entry in ipairs(entries) do
      newest = text_of(time_of(entry) - back) .. string.match(entry, '^%d+(.*)$')
      redis.call('RPUSH', key, newest)
    end
    last = last - back
    redis.call('PEXPIRE', key, math.ceil((last + window - clock) / 1000))
  end

  local head = redis.call('LINDEX', key, 0)
  while head and time_of(head) + window <= clock do
    redis.call('LPOP', key)
    head = redis.call('LINDEX', key, 0)
  end
  local oldest = head and time_of(head) or clock

  local count = redis.call('LLEN', key)
  local free = limit - count
  local admitted = 0
  if slots > 1 and free >= LEAST_FREE and head and oldest <= clock then
    slots = math.min(slots, math.floor(free / PART))
    last = math.max(clock + LEASE, last)
    local entries = {}
    for i = 1, slots do
      entries[i] = text_of(last) .. ':' .. name
    end
    count = redis.call('RPUSH', key, unpack(entries))
    admitted = { slots, last, tonumber(name) }
  elseif free > 0 then
    -- Behind a lease the request has the lease's time, so that the log stays in order.
    if last <= clock then
      newest, last = text_of(clock), clock
    end
    count = redis.call('RPUSH', key, newest)
    admitted = 1
  end
  if admitted ~= 0 then
    redis.call('PEXPIRE', key, math.ceil((last + window - clock) / 1000))
  end

  answer[#answer + 1] = admitted
  answer[#answer + 1] = math.max(limit - count, 0)
  answer[#answer + 1] = oldest + window - clock
end

return answer
