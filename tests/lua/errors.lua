-- Errors in the middle of loops: message, line, and the state of locals that closures keep.
local function run(limit)
  local done = 0
  local ok, message = pcall(function()
    for i = 1, 100 do
      if i == limit then error("stop at " .. i) end
      done = done + i
    end
  end)
  return ok, message, done
end
print(run(10))
print(run(50))
print(run(1000))
local t = {}
for i = 1, 20 do t[i] = i end
local reached = 0
print(pcall(function()
  for i = 1, 30 do
    reached = i
    t[i] = t[i] * 2
  end
end))
print(reached, t[20], t[21])
print(select(2, pcall(function() local x = 1; while true do x = x * 2; if x > 1000 then x = x.y.z end end end)))
print(select(2, pcall(function() for i = 1, 10 do local f = i > 5 and nil or print; if i > 5 then f() end end end)))
for i = 1, 5 do
  local ok, e = pcall(function() local s = 0; for j = 1, 10 do s = s + j; if j == i * 3 then error({ s }, 0) end end return s end)
  print(ok, type(e) == "table" and e[1] or e)
end
print(xpcall(function() for i = 1, 10 do if i == 7 then error("seven") end end end, function(m) return "handled " .. m end))
local closed = {}
pcall(function()
  for i = 1, 5 do
    local guard <close> = setmetatable({}, { __close = function() closed[#closed + 1] = i end })
    if i == 4 then error("x") end
  end
end)
print(table.concat(closed, " "))
