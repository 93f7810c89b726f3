-- New integer keys in loops: the array part grows, values of all types come into it, and '#' and 'next' tell how.
local function shape(t)
  local keys = {}
  for k, v in next, t do keys[#keys + 1] = tostring(k) .. "=" .. tostring(v) end
  return #t .. ": " .. table.concat(keys, " ")
end

-- fresh small tables, one after the other
local n = 0
for i = 1, 30 do
  local row = {}
  for j = 1, 11 do row[j] = i * j end
  n = n + #row + row[i % 11 + 1]
end
print(n)

-- all kinds of values
local f, co = function() end, coroutine.create(print)
local values = { 1, 2.5, true, false, "short", ("long"):rep(20), print, f, co, {}, io.stdout, string.gmatch("a", "a"), 0.0 }
for _, v in ipairs(values) do
  local t = {}
  for i = 1, 9 do t[i] = v end
  local same = 0
  for i = 1, 9 do if t[i] == v and math.type(t[i]) == math.type(v) then same = same + 1 end end
  io.write(same, " ", #t, ", ")
end
print()

-- the loop has loaded array and length before it grows them, through the same variable and through another one
local a = { 1 }
local b = a
for i = 1, 40 do
  local before = a[i]
  b[i + 1] = before + i
  a[i] = before + a[i + 1] + b[1]
end
print(shape(a))
local x, y = { 5 }, { 7 }
for i = 1, 40 do
  local to = i % 3 == 0 and x or y
  local seen = x[1] + y[1]
  to[#to + 1] = seen
  x[1] = to[#to] - y[1] + #x
end
print(shape(x)); print(shape(y))

-- holes, from behind, sparse to dense, huge and negative
local h = {}
for i = 1, 40, 3 do h[i] = i end
for i = 2, 40, 3 do h[i] = -i end
print(shape(h))
local back = {}
for i = 20, 1, -1 do back[i] = i end
print(#back, back[1], back[20])
local sparse = {}
for i = 1, 12 do sparse[i * i * i] = i end
for i = 1, 60 do sparse[i] = sparse[i] or 0 end
print(#sparse, sparse[27], sparse[1000], sparse[60])
local huge = {}
for i = 0, 20 do huge[math.maxinteger - i] = i; huge[math.mininteger + i] = -i; huge[-i] = i; huge[1 << (i * 3)] = i end
print(#huge, huge[math.maxinteger], huge[math.mininteger + 3], huge[-7], huge[1], huge[1 << 60])

-- a hash part that integers go to before the array part is made
local mixed = { n = 0 }
for i = 1, 40 do
  mixed[i] = i
  mixed.n = mixed.n + mixed[i]
  if i % 10 == 0 then mixed["k" .. i] = i end
end
print(mixed.n, #mixed, mixed.k20)

-- taken away again, then other keys
local q, first, last = {}, 1, 0
for i = 1, 90 do
  last = last + 1
  q[last] = i
  if i % 3 ~= 0 then q[first] = nil; first = first + 1 end
end
print(first, last, q[first], q[last], q[1])
local gone = {}
for i = 1, 20 do gone[i] = i end
for i = 1, 20 do gone[i] = nil end
for i = 1, 20 do gone[i + 20] = i end
print(next(gone) ~= nil, gone[21], gone[40], gone[1])

-- the longest array of the program grows while it is recorded
local long = {}
for i = 1, 200 do long[#long + 1] = i; if i > 100 then long[#long + 1] = -i end end
print(#long, long[100], long[101], long[102], long[300])
for i = 1, 30 do local t = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } t[17] = i; long[i] = t[17] + #t end
print(long[30])
