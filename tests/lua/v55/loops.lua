-- The variable of a loop is its own counter: of integers and floats, up and down, to the limits, in closures.
local sum = 0
for i = 1, 1000 do sum = sum + i end
for i = 1000, 1, -3 do sum = sum + i end
for i = 1.5, 100, 0.25 do sum = sum + i end
for i = 3, 1 do sum = sum + 1000000 end
for i = 1, 0.5 do sum = sum + 1000000 end
print(sum)
local n = 0
for i = math.maxinteger - 200, math.maxinteger do n = n + 1 end
for i = math.mininteger + 200, math.mininteger, -1 do n = n + 1 end
for i = math.mininteger, math.mininteger + 900, 3 do n = n + (i & 1) end
for i = 1, math.huge do n = n + 1 if i > 300 then break end end
for i = -1, -math.huge, -1 do n = n + 1 if i < -300 then break end end
for i = 1, 3.7 do n = n + i end
print(n)
for _, bounds in ipairs { { 1, 10, 0 }, { 1.0, 10, 0.0 }, { 'a', 1, 1 }, { 1, {}, 1 }, { 1, 2, 'x' } } do
  print(pcall(function(a, b, c) for i = a, b, c do return i end end, table.unpack(bounds)))
end
local list = {}
for i = 1, 200 do list[#list + 1] = function() return i * 2 end end
local total = 0
for i, f in ipairs(list) do total = total + f() + i end
print(total)
for outer = 1, 60 do
  for inner = outer, outer + outer % 5 do total = total + inner end
  for step = -2, 2 do
    if step ~= 0 then for i = 5, 9, step do total = total + i end end
  end
end
print(total)
-- Generic loops: the control variable is the first one, the value to be closed another register.
local function range(to)
  local function step(limit, at) if at < limit then return at + 1, at * 2 end end
  return step, to, 0, setmetatable({}, { __close = function() total = total + 7 end })
end
for round = 1, 40 do
  for a, b in range(30) do total = total + a - b if a + round == 35 then break end end
end
print(total)
local mt = { __pairs = function(t) return function(_, k) k = (k or 0) + 1 if k < 50 then return k, k end end, t, nil end }
for k, v in pairs(setmetatable({}, mt)) do total = total + k * v end
for c in ('abcdef'):rep(30):gmatch('[ace]') do total = total + #c end
for k, v in next, { 1, 2, x = 3, y = 4 } do total = total + v end
local caller = setmetatable({}, { __call = function(self, state, k) if k < state then return k + 1 end end })
for k in caller, 100, 0 do total = total + k end
print(total, select('#', pairs({})), select('#', ipairs({})))
for i = 1, 100 do total = total + select('#', pairs(mt)) end
print(total)
