-- Values without payload in variables, arrays and fields.
local flags = {}
for i = 1, 30 do flags[i] = i % 3 == 0 end
local on, off, swapped = 0, 0, nil
for i = 1, 30 do
  if flags[i] then on = on + 1 else off = off + 1 end
  flags[i] = not flags[i]
end
for i = 1, 30 do if flags[i] == true then swapped = (swapped or 0) + 1 end end
print(on, off, swapped)
local state = { ready = false, last = nil }
for i = 1, 20 do
  if state.ready then state.last = i end
  if i == 7 then state.ready = true end
  if i == 15 then state.ready = false end
end
print(state.ready, state.last)
local x, y = nil, false
for i = 1, 11 do x, y = y, x end
print(x, y)
local n = 0
local z
for i = 1, 20 do
  if z then n = n + 1 end
  z = i % 4 == 0 or nil
end
print(n, z)
