-- Coroutines that close themselves, from hot loops and out of protected calls; values are closed on the way.
local log, sum = {}, 0
for i = 1, 200 do
  local co = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function() log[#log + 1] = i end })
    for j = 1, 100 do
      sum = sum + j
      if j == 50 then pcall(coroutine.close) end
    end
    error('not reached')
  end)
  local ok, what = coroutine.resume(co)
  if i % 50 == 0 then print(ok, what, coroutine.status(co), #log, sum) end
end
local function nested(n)
  if n == 0 then coroutine.close() end
  return 1 + nested(n - 1)
end
for i = 1, 100 do
  local co = coroutine.wrap(function() return nested(i % 20) end)
  sum = sum + select('#', co())
end
print(sum, pcall(coroutine.close, coroutine.running()))
