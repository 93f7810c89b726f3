-- Loops that make garbage between hot loops, with finalizers that run hot loops of their own.
local finalized = 0
local function make()
  return setmetatable({}, { __gc = function() for i = 1, 10 do finalized = finalized + 1 end end })
end
for i = 1, 30 do make() end
collectgarbage()
print(finalized)
local s = 0
for i = 1, 200 do
  local t = { i, i + 1 }
  s = s + t[1] + t[2]
end
print(s)
local parts = {}
for i = 1, 100 do parts[i] = tostring(i) .. ":" end
print(#table.concat(parts))
collectgarbage("generational")
for i = 1, 300 do local u = { x = { i } }; s = s + u.x[1] end
collectgarbage("incremental")
print(s)
