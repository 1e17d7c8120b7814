#!lua flags=allow-oom
-- Reads kept blocks of a feed that are older than a delay, the oldest first.
-- Changes nothing, and is no `no-writes` script: a replica, whose blocks may end, refuses to run it.
-- KEYS[1] kept blocks
-- ARGV[1] milliseconds of the delay  ARGV[2] maximum number of blocks
-- ARGV[3] id of the block after which to begin; empty: begin with the newest block that ends with a state
-- ARGV[4] the reader's Unix time in milliseconds
-- Returns {id, block} ...
local time = redis.call('TIME')
-- The earlier of two clocks: that of a promoted replica may be ahead of the one that stamped the blocks.
local now = math.min(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(ARGV[4]))
local latest = string.format('%d', now - ARGV[1])
local first = '(' .. ARGV[3]
-- An id of the future is of a clock that was ahead: see keep.lua.
if ARGV[3] == '' or tonumber(string.match(ARGV[3], '^%d+')) > now + 60000 then
  local before = latest
  while true do
    local found = redis.call('XREVRANGE', KEYS[1], before, '-', 'COUNT', 1)[1]
    if not found then
      return {}
    end
    if found[2][4] == '1' then
      first = found[1]
      break
    end
    before = '(' .. found[1]
  end
end
local blocks = {}
for i, entry in ipairs(redis.call('XRANGE', KEYS[1], first, latest, 'COUNT', ARGV[2])) do
  blocks[i] = {entry[1], entry[2][2]}
end
return blocks
