-- Multiple assignment: right sides before left ones, aliases, calls that adjust, swaps, targets that the values change.
local a, b, c = 1, 2, 3
for i = 1, 100 do
  a, b, c = b, c, a
  if i % 10 == 0 then a, b = b, a + i end
end
print(a, b, c)
local t = { 1, 2, 3, 4 }
for i = 1, 100 do
  local j, k = i % 4 + 1, (i + 1) % 4 + 1
  t[j], t[k] = t[k], t[j]
  t[j], t[t[j] % 4 + 1] = t[k] + 1, t[j] - 1
end
print(table.concat(t, " "))
local function two(x) return x, x + 1 end
local function none() end
local x, y, z, w = 0, 0, 0, 0
local nils = 0
for i = 1, 80 do
  x, y, z, w = i, two(i * 2)
  if w == nil then nils = nils + 1 end
  x, y = (two(y)), none()
  if y == nil then nils = nils + 1000 end
  y, z = two(z)
end
print(x, y, z, w, nils)
local r = { n = 0 }
local i = 1
local log = {}
for n = 1, 60 do
  i, r[i % 5] = i + 1, n
  r, r.n = r, r.n + i
  if n % 20 == 0 then log[#log + 1] = i .. "/" .. r.n end
end
print(table.concat(log, " "), r[0], r[1], r[2], r[3], r[4])
local list = { next = nil }
local head = nil
for n = 1, 50 do head = { value = n, next = head } end
local prev = nil
while head do head.next, prev, head = prev, head, head.next end
local s = ""
while prev do s = s .. prev.value .. (prev.value % 10 == 0 and "\n" or " "); prev = prev.next end
io.write(s)
