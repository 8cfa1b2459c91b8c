-- Sends the requests of a file in turn. Arguments: the file of paths, one a line, with header lines of its own behind tabs; how many
-- requests go out together; further header lines, each one argument.
local batches, at = {}, 0

function init(args)
  local headers = "\r\nHost: 127.0.0.1"
  for i = 3, #args do headers = headers .. "\r\n" .. args[i] end
  headers = headers .. "\r\n\r\n"
  local depth, batch, waiting = tonumber(args[2]), {}, 0
  for path in io.lines(args[1]) do
    waiting = waiting + 1
    local own = path:find("\t", 1, true)
    local target = own and path:sub(1, own - 1) or path
    local lines = own and "\r\n" .. path:sub(own + 1):gsub("\t", "\r\n") or ""
    batch[waiting] = "GET " .. target .. " HTTP/1.1" .. lines .. headers
    if waiting == depth then
      batches[#batches + 1] = table.concat(batch, "", 1, depth)
      waiting = 0
    end
  end
end

function request()
  at = at % #batches + 1
  return batches[at]
end

function done(summary, latency)
  io.write(string.format(
    'RESULT {"requests":%d,"micros":%d,"bytes":%d,"failed":%d,"refused":%d,"p50":%.1f,"p99":%.1f}\n',
    summary.requests, summary.duration, summary.bytes,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    summary.errors.status,
    latency:percentile(50), latency:percentile(99)))
end
