-- For wrk: the requests of 4,096 clients in turn, by the address that a trusted proxy forwards.
local COUNT = 4096
local requests = {}
local number = 0

function init()
  for i = 1, COUNT do
    wrk.headers["X-Forwarded-For"] = "10.0." .. math.floor(i / 256) .. "." .. i % 256
    requests[i] = wrk.format()
  end
end

function request()
  number = number % COUNT + 1
  return requests[number]
end
