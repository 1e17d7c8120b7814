-- For wrk: a connection waits two milliseconds before a request, then three, so that 32 send about 10,000 a second.
local turn = 0

function delay()
  turn = 1 - turn
  return 2 + turn
end
