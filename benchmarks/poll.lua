-- wrk as browsers that poll: 63,001 addresses in turn, compression, every other request with the last ETag.

local count, tag = 0, nil

function request()
    count = count + 1
    wrk.headers["X-Forwarded-For"] = "10." .. count % 251 .. "." .. math.floor(count / 251) % 251 .. ".7"
    wrk.headers["Accept-Encoding"] = "gzip, deflate, br, zstd"
    wrk.headers["If-None-Match"] = count % 2 == 0 and tag or nil
    return wrk.format("GET")
end

function response(status, headers)
    tag = headers["ETag"] or headers["etag"]
end
