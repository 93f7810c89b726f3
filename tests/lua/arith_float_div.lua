-- Floor division and remainder of floats: infinities, zeros of both signs, and results that round.
local inf = 1 / 0
local edge = { 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 1e300, -1e300, inf, -inf, 0.1, -0.3, 5.3, -7.0 }
local n = #edge
local function show(x) return x ~= x and "nan" or string.format("%a", x) end
local q, r = {}, {}
for i = 1, n do q[i] = 0; r[i] = 0 end
local function row(a)
  for j = 1, n do
    local b = edge[j]
    q[j] = a // b
    r[j] = a % b
  end
  for j = 1, n do io.write(show(q[j]), "/", show(r[j]), " ") end
  print()
end
for i = 1, n do row(edge[i]) end
local s, t = 0, 0
for i = -20, 20 do
  s = s + i // 3.5 + (i + 0.5) // 2
  t = t + i % 3.5 + (i + 0.5) % -2
end
print(s, t)
