-- Constant indexes, as in vectors of three elements.
local v, w = { 1.5, 2.5, 3.5 }, { 1, 2, 3 }
local dot = 0
for i = 1, 30 do
  dot = dot + v[1] * w[1] + v[2] * w[2] + v[3] * w[3]
  v[1], v[2], v[3] = v[2], v[3], v[1]
  w[2] = w[2] + 1
end
print(dot, v[1], v[2], v[3], w[1], w[2], w[3])
local z = { [0] = 0, 10 }
for i = 1, 10 do z[0] = z[0] + z[1]; z[200] = i end
print(z[0], z[1], z[200])
print(pcall(function() for i = 1, 5 do v[4] = v[4] + 1 end end))
