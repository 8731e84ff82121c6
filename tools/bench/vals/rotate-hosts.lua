-- Each request goes to the next of VALS vals.
local count = tonumber(os.getenv("VALS"))
local next = 0
request = function()
  next = (next + 1) % count
  return wrk.format("GET", "/", { ["Host"] = "alice--warm" .. next .. ".localhost" })
end
