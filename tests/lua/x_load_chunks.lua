-- Functions made by load in loops, run hot and dropped: code freed and addresses used again, the same text with other constants.
local s = 0
for i = 1, 40 do
  local f = load("local n = ... local s = 0 for i = 1, 20 do s = s + i * " .. i .. " + n end return s")
  s = s + f(i)
  if i % 10 == 0 then collectgarbage() end
end
print(s)
local kept = {}
for i = 1, 12 do
  kept[i] = load("local k = " .. (i % 2 == 0 and i or i + 0.5) .. " return function(n) local t = 0 for i = 1, n do t = t + k; if t > 100 then t = t - 100.5 end end return t end")()
end
local r = {}
for round = 1, 3 do for i = 1, 12 do r[i] = kept[i](30 + round) end collectgarbage("step") end
print(table.concat(r, " "))
for i = 1, 12, 2 do kept[i] = nil end
collectgarbage()
local t = 0
for i = 2, 12, 2 do t = t + kept[i](50) end
print(t)
print(load("for i = 1, 60 do if i == 50 then error('inside') end end", "=chunk") and pcall(load("for i = 1, 60 do if i == 50 then error('inside') end end", "=chunk")))
print(load("for i = 1 60 do end", "=bad"))
local dumped = string.dump(function(n) local q = 0 for i = 1, n do q = q + i * i end return q end)
local d = 0
for i = 1, 10 do d = d + load(dumped, "d", "b")(20 + i) end
print(d)
local stripped = load(string.dump(function(n) local q = 0 for i = 1, n do q = q + (i > 70 and nil or i) end return q end, true))
print(stripped(60), pcall(stripped, 80))
local parts, at = { "local s = 0 ", "for i = 1, 60 ", "do s = s + i ", "end return s" }, 0
print(load(function() at = at + 1 return parts[at] end)())
local env = setmetatable({}, { __index = function(_, k) return #k end })
print(load("local s = 0 for i = 1, 60 do s = s + abc + de end return s", "e", "t", env)())
local modules = 0
for i = 1, 20 do
  package.preload["m" .. i] = function(name) local v = 0 for j = 1, 20 do v = v + #name + j end return { v = v } end
  modules = modules + require("m" .. i).v
  package.loaded["m" .. i], package.preload["m" .. i] = nil, nil
end
print(modules)
