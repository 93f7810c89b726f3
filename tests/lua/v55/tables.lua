-- Arrays, whose values and tags lie apart: they grow, have holes, are made with room, hold all types.
local function sum(t) local s = 0 for i = 1, #t do s = s + (t[i] or 0) end return s end
local a = {}
for i = 1, 1000 do a[i] = i end
for i = 1, 1000 do a[i] = a[i] * 2 + (a[i + 1] or 0) end
print(sum(a), #a)
for i = 1000, 500, -1 do a[i] = nil end
print(sum(a), #a)
local room = table.create(100, 10)
for i = 1, 150 do room[i] = i / 2 room['k' .. i % 12] = i end
print(sum(room), #room, room.k3)
local mixed, kinds = {}, {}
for i = 1, 600 do
  local r = i % 6
  mixed[i] = r == 0 and i or r == 1 and i / 2 or r == 2 and ('s' .. i) or r == 3 and (i % 4 == 0) or r == 4 and {} or print
end
for i = 1, 600 do local k = type(mixed[i]) kinds[k] = (kinds[k] or 0) + 1 end
print(kinds.number, kinds.string, kinds.boolean, kinds.table, kinds['function'])
for round = 1, 80 do
  local t = { round, round + 1, nil, round + 3, n = round }
  t[#t + 1] = 'end'
  local u = { t[1], t[2], x = t[4], t[5] }
  if round % 40 == 0 then print(#t, t[3], t[5], #u, u.x, u[3]) end
end
local holes = {}
for i = 1, 64 do holes[i] = i end
for i = 1, 64, 3 do holes[i] = nil end
local borders = {}
for i = 1, 30 do
  holes[i] = i % 4 > 0 and i or nil
  borders[#borders + 1] = #holes
end
print(table.concat(borders, ' '))
local pushed, popped = {}, 0
for i = 1, 300 do table.insert(pushed, i) if i % 3 == 0 then popped = popped + table.remove(pushed) end end
print(#pushed, popped, pushed[200], pushed[201])
for i = 1, 50 do table.insert(pushed, 1, -i) popped = popped + table.remove(pushed, 3) end
print(popped, #pushed, pushed[1], pushed[2])
local sparse = {}
for i = 1, 200 do sparse[i * 7] = i sparse[-i] = i sparse[i + 0.5] = i end
local k, v = 0, 0
for key, value in pairs(sparse) do k = k + key v = v + value end
print(k, v)
local order = {}
for i = 20, 1, -1 do order[i] = i * i end
for key, value in pairs(order) do order[key] = value + key end
print(table.concat(order, ' '))
local proxy = setmetatable({}, { __index = function(_, i) return i * 3 end, __newindex = function(t, i, x) rawset(t, i, x + 1) end })
local seen = 0
for i = 1, 200 do seen = seen + proxy[i] if i % 5 == 0 then proxy[i] = i end end
for i = 1, 200 do seen = seen + proxy[i] end
print(seen, #proxy > 0)
local lists = {}
for i = 1, 100 do lists[i] = { i, { i, i + 1 }, i + 2 } end
for i = 1, 100 do seen = seen + lists[i][2][2] + #lists[i] lists[i][2][1] = lists[i] end
print(seen, lists[5][2][1] == lists[5])
local big = {}
for i = 1, 70 do big[i] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, i, i, i, i, i, i, i, i,
  i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i } end
print(#big[70], big[70][68], big[3][21])
