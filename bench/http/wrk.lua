-- Sends the requests of a file in turn. Arguments: the file of paths, one a line; how many requests go out together; further header
-- lines, each one argument.
local batches, at = {}, 0

function init(args)
  local headers = "\r\nHost: 127.0.0.1"
  for i = 3, #args do headers = headers .. "\r\n" .. args[i] end
  headers = headers .. "\r\n\r\n"
  local depth, batch, waiting = tonumber(args[2]), {}, 0
  for path in io.lines(args[1]) do
    waiting = waiting + 1
    batch[waiting] = "GET " .. path .. " HTTP/1.1" .. headers
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
    'RESULT {"requests":%d,"micros":%d,"bytes":%d,"failed":%d,"p50":%.1f,"p99":%.1f}\n',
    summary.requests, summary.duration, summary.bytes,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout + summary.errors.status,
    latency:percentile(50), latency:percentile(99)))
end
