-- Rate limits of the cache: exact sliding windows in memory that all processes of one nginx share.
--
-- A window is a string of pairs of doubles, oldest first: the moment of the last request that the pair counts,
-- and their number. Requests of one twentieth of a second share a pair and all count until the last of them
-- leaves, so no 60 seconds ever see more than the limit; a slot frees up to 50 ms late. The clock is the
-- machine's monotonic one.

local ffi = require "ffi"
local lrucache = require "resty.lrucache"

ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } quotecast_moment;
int clock_gettime(int clock, quotecast_moment *moment);
]]

local WINDOW_SECONDS = 60
local PAIRS_PER_SECOND = 20
local CLOCK_MONOTONIC = 1
-- Seconds for which the canonical path of a URL is remembered, and how many of them each process remembers.
local NAMED_SECONDS = 60
local NAMED_PATHS = 20000
-- Seconds after which the lock of a process that died is broken.
local LOCK_SECONDS = 1
local SPINS = 100

local ASK = "/_quotecast/limit"
local windows = ngx.shared.windows
-- Apart from the windows: a small dictionary is faster.
local locks = ngx.shared.window_locks
local named = assert(lrucache.new(NAMED_PATHS))
local moment = ffi.new("quotecast_moment")
local doubles = ffi.typeof("const double *")
local pairs_of = ffi.new("double[?]", 2 * (WINDOW_SECONDS * PAIRS_PER_SECOND + 2))
local floor, ceil = math.floor, math.ceil
local find, sub, byte, lower = string.find, string.sub, string.byte, string.lower

local M = {}

local function monotonic()
    ffi.C.clock_gettime(CLOCK_MONOTONIC, moment)
    return tonumber(moment.seconds) + tonumber(moment.nanoseconds) * 1e-9
end

-- Counts a request at `now`, in seconds of a clock that never steps back. Returns whether it is admitted, how
-- many more would be, and the seconds until the oldest counted request leaves. Does not yield.
local function count(key, limit, now)
    local log = windows:get(key) or ""
    local length = #log / 16
    local old = ffi.cast(doubles, log)
    local first, total = 0, 0
    while first < length and old[2 * first] + WINDOW_SECONDS <= now do
        first = first + 1
    end
    for i = first, length - 1 do
        total = total + old[2 * i + 1]
    end
    local oldest = first < length and old[2 * first] or now
    if total >= limit then
        return false, 0, oldest + WINDOW_SECONDS - now
    end
    length = length - first
    ffi.copy(pairs_of, old + 2 * first, 16 * length)
    local last = 2 * (length - 1)
    if length > 0 and floor(pairs_of[last] * PAIRS_PER_SECOND) == floor(now * PAIRS_PER_SECOND) then
        pairs_of[last], pairs_of[last + 1] = now, pairs_of[last + 1] + 1
    else
        pairs_of[last + 2], pairs_of[last + 3] = now, 1
        length = length + 1
    end
    local ok, problem, evicted = windows:set(key, ffi.string(pairs_of, 16 * length), WINDOW_SECONDS + 1)
    if (not ok or evicted) and windows:add("full", true, WINDOW_SECONDS) then
        ngx.log(ngx.ERR, "the windows of rate limits do not fit: enlarge lua_shared_dict windows; ", problem)
    end
    return true, limit - total - 1, pairs_of[0] + WINDOW_SECONDS - now
end

-- Counts a request now; other processes wait meanwhile.
function M.check(key, limit, now)
    if ngx.worker.count() == 1 then
        return count(key, limit, now or monotonic())
    end
    local spins = 0
    while not locks:add(key, true, LOCK_SECONDS) do
        spins = spins + 1
        if spins % SPINS == 0 then
            ngx.sleep(0.001)
        end
    end
    local admitted, remaining, seconds = count(key, limit, now or monotonic())
    locks:delete(key)
    return admitted, remaining, seconds
end

-- The client of a binary address, as the service sees it: an IPv4 address, or the /64 of an IPv6 one.
local function client(address)
    if #address == 4 then
        return address
    end
    if sub(address, 1, 10) == "\0\0\0\0\0\0\0\0\0\0" and byte(address, 11) == 255 then
        return sub(address, 13)
    end
    return sub(address, 1, 8)
end

local function tell(var, limit, remaining, reset)
    var.limit_limit, var.limit_remaining, var.limit_reset = limit, remaining, reset
end

-- Asks a worker: it names the window of an anonymous request, and counts one of a user itself. Returns the
-- window; nil where nothing is left to count here.
local function ask(var, path, last)
    local answer = ngx.location.capture(ASK)
    local header = {}
    for name, value in pairs(answer.header) do
        header[lower(name)] = value
    end
    if answer.status == 204 and header["x-limit-window"] then
        local window = { name = header["x-limit-window"], limit = tonumber(header["x-limit-requests"]) }
        named:set(path, window, NAMED_SECONDS)
        return window
    end
    if answer.status == 502 or (answer.status == 204 and not header["x-ratelimit-limit"]) then
        -- No worker or no limit: the last name still holds, and without one a stored answer may be given.
        return last
    end
    if answer.status ~= 204 and answer.status ~= 403 then
        -- Too slow or broken: a read without a name must not go on uncounted.
        return last or ngx.exit(504)
    end
    tell(var, header["x-ratelimit-limit"] or "", header["x-ratelimit-remaining"] or "", header["x-ratelimit-reset"] or "")
    if answer.status == 403 then
        var.limit_retry = header["retry-after"] or ""
        return ngx.exit(403)
    end
end

-- Counts a read, for `access_by_lua`: it goes on, or ends with 403, which nginx turns into the service's 429.
function M.admit()
    local var = ngx.var
    if var.edge_counts == "" then
        return
    end
    local path = var.request_uri
    local query = find(path, "?", 1, true)
    if query then
        path = sub(path, 1, query - 1)
    end
    local window, last = named:get(path)
    if not window or var.http_authorization then
        window = ask(var, path, window or last)
        if not window then
            return
        end
    end
    local key = client(var.binary_remote_addr) .. window.name
    local admitted, remaining, seconds = M.check(key, window.limit)
    local reset = ceil(seconds)
    tell(var, window.limit, remaining, reset)
    if not admitted then
        var.limit_retry = reset
        return ngx.exit(403)
    end
end

return M
