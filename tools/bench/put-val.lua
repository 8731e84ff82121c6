-- Every request saves new code, so that each one makes a version. Names rotate, so that no one row is all of it.
wrk.method = "PUT"
wrk.headers["content-type"] = "application/json"
local count = 0
local start = os.time()
request = function()
  count = count + 1
  local body = string.format('{"name":"put_%d","code":"export default () => \\"%d %d\\""}', count % 100, start, count)
  return wrk.format(nil, nil, nil, body)
end
