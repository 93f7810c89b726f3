-- Calls set the globals and upvalues of the loop, and the types that they have.
counter, limit, word = 0, 30, "w"
local up, flag, list = 0, false, nil
local function set(i)
  counter = counter + 1
  up = up + i
  if i % 5 == 0 then up = up + 0.5 end
  if i % 6 == 0 then flag = not flag word = word .. i % 10 end
  if i % 8 == 0 then list = { i } elseif i % 8 == 4 then list = nil end
  if i == 25 then limit = 35 end
  if i == 28 then up = math.tointeger(math.floor(up)) end
end
local s, i = 0, 0
while i < limit do
  i = i + 1
  local before, word_before = counter, word
  pcall(set, i)
  s = s + (counter - before) + up
  if flag then s = s + 100 end
  if list then s = s + list[1] end
  if word ~= word_before then s = s + #word end
  up = up - 1
end
print(s, counter, limit, word, up, flag)
-- Functions replaced by the calls: globals, fields of libraries, methods, upvalues.
local calls = { 0, 0, 0 }
function action(n)
  calls[1] = calls[1] + 1
  if n == 10 then action = function() calls[2] = calls[2] + 1 end end
end
local floor = math.floor
local object = { go = function(self) calls[3] = calls[3] + 1 return 1 end }
local class = { go = function(self) return 10 end }
local helper = function(x) return x end
local function swap(n)
  if n == 15 then math.floor = function(x) return floor(x) + 1 end end
  if n == 20 then object.go = nil setmetatable(object, { __index = class }) end
  if n == 25 then helper = function(x) return -x end end
  if n == 30 then math.floor = floor class.go = string.len object[1] = nil end
end
local total = 0
for n = 1, 40 do
  action(n)
  total = total + math.floor(n / 2) + (n < 30 and object:go() or class.go("four")) + helper(n)
  pcall(swap, n)
end
print(total, calls[1], calls[2], calls[3])
-- _ENV itself is a local that a closure changes.
do
  local _ENV = { x = 1, pcall = pcall, print = print }
  local function other(n)
    if n % 10 == 0 then _ENV = { x = x * 2, pcall = pcall, print = print } end
    x = x + 1
  end
  local sum = 0
  for n = 1, 40 do
    sum = sum + x
    pcall(other, n)
    y = sum
  end
  print(sum, x, y)
end
