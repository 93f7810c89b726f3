-- Appends: inside the array part, behind the hint that '#' leaves, and where the array has to grow.
local t = {}
for i = 1, 100 do t[#t + 1] = i * 3 end
print(#t, t[1], t[64], t[65], t[100])
local u, n = {}, 0
for i = 1, 100 do n = n + 1; u[n] = { i } end
print(#u, u[100][1])
for i = 1, 60 do u[#u] = nil end
for i = 1, 30 do u[#u + 1] = i end
print(#u, u[70], u[40][1])
local stack, top = {}, 0
for i = 1, 80 do
  stack[#stack + 1] = i
  if i % 3 == 0 then
    top = top + stack[#stack]
    stack[#stack] = nil
  end
end
print(#stack, top, stack[#stack])
local holes = { 1, 2, 3, nil, 5, nil, nil, 8 }
local seen = 0
for i = 1, 30 do
  local h = { 1, 2, 3, nil, 5, nil, nil, 8 }
  h[#h + 1] = i
  seen = seen + #h
end
print(seen, #holes)
local meta = setmetatable({}, { __newindex = function(t, k, v) rawset(t, k, v * 2) end })
for i = 1, 20 do meta[#meta + 1] = i end
print(#meta, meta[1], meta[20])
