-- Sends the requests of a file in turn. Arguments: the file of paths, one a line, and a header line.
local requests, at = {}, 0

function init(args)
  for path in io.lines(args[1]) do
    requests[#requests + 1] = "GET " .. path .. " HTTP/1.1\r\nHost: 127.0.0.1\r\n" .. args[2] .. "\r\n\r\n"
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"micros":%d,"failed":%d,"refused":%d}\n',
    summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
