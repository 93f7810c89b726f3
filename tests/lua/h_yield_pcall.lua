-- Yields across pcall and xpcall from hot loops, with errors before, between and after them.
local log = {}
local function worker(name, n)
  local sum = 0
  for i = 1, n do
    local ok, v = pcall(function(x)
      local y = coroutine.yield(x)
      if y % 7 == 3 then error({ code = y }) end
      return y * 2
    end, sum + i)
    if ok then sum = sum + v else sum = sum - v.code end
    if i % 5 == 0 then
      local good, text = xpcall(function()
        coroutine.yield(-i)
        error("deep" .. i, 0)
      end, function(m) return name .. m end)
      log[#log + 1] = tostring(good) .. text
    end
  end
  return sum
end
local threads = {}
for k = 1, 3 do threads[k] = coroutine.create(worker) end
local out = {}
for step = 1, 60 do
  for k = 1, 3 do
    local co = threads[k]
    if coroutine.status(co) == "suspended" then
      local ok, v
      if step == 1 then ok, v = coroutine.resume(co, "t" .. k, 30 + k)
      else ok, v = coroutine.resume(co, step * k) end
      out[#out + 1] = tostring(ok) .. v
    end
  end
end
print(table.concat(out, " "))
print(table.concat(log, " "))
-- Nested: a yield through three pcalls, each with a loop of its own.
local function nest(depth, n)
  local s = 0
  for i = 1, n do
    if depth == 0 then
      s = s + coroutine.yield(i)
    else
      local ok, v = pcall(nest, depth - 1, 2)
      s = s + (ok and v or 1000)
    end
  end
  if s % 11 == 5 then error(s) end
  return s
end
local co = coroutine.wrap(function() return "end", nest(3, 6) end)
local value, result = co(), nil
local count = 0
while value ~= "end" do
  count = count + 1
  value, result = co(count % 4)
end
print(count, value, result)
