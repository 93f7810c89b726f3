-- Metatables without the metamethods that matter, and one that gets them while the loop runs.
local a = {}
for i = 1, 20 do a[i] = i end
local mt = { __name = "thing" }
setmetatable(a, mt)
local s = 0
for i = 1, 20 do s = s + a[i]; a[i] = a[i] + 1 end
print(s, a[20])
a[10] = nil
local nils = 0
for round = 1, 4 do
  if round == 3 then mt.__index = function(_, k) return k * 10 end end
  for i = 1, 20 do
    local v = a[i]
    if v == nil then nils = nils + 1 else s = s + v end
  end
  print(round, nils, s)
end
mt.__index = nil
for i = 1, 20 do if a[i] == nil then nils = nils + 1 end end
print(nils)
mt.__newindex = function() error("no new elements") end
print(pcall(function() for i = 1, 20 do a[i] = 0 end end))
print(a[9], a[10], a[11])
