-- Upvalues that change their type within one iteration, and are read back: type and payload are stored together.
local u, v = 1, nil
local function work(n)
  local ints, floats, nils = 0, 0.0, 0
  for i = 1, n do
    u = i
    ints = ints + u
    u = i * 0.5
    floats = floats + u
    v = nil
    if v == nil then nils = nils + 1 end
    v = u
    u = v == 2.5 and "text" or true
    if u == true then nils = nils + 10 end
  end
  return ints, floats, nils, u, v
end
print(work(5))
print(work(30))
u, v = nil, "v"
print(work(4))
local t = {}
local function tables(n)
  local w
  for i = 1, n do
    v = t
    w = v
    v = false
    if v then w = nil end
    v = i
  end
  return w == t, v
end
print(tables(10))
print(tables(3))
