-- Functions that C calls, that are freed, that have variable arguments, that begin with a loop, that tail-call.
local t = {}
for i = 1, 200 do t[i] = (i * 7919) % 1009 end
table.sort(t, function(a, b) if a % 10 ~= b % 10 then return a % 10 < b % 10 end return a < b end)
print(t[1], t[100], t[200])
local function louder(w) if #w > 3 then return w:upper() .. #w end return w end
print((("the quick brown fox "):rep(12):gsub("%w+", louder)))
local function loops(n) while n > 0 do n = n - 3 if n == 7 then return "seven" end end return n end
for n = 1, 90 do io.write(tostring(loops(n)), " ") end
print()
local function va(n, ...) if n == 0 then return select("#", ...) end return va(n - 1, n, ...) + 1 end
print(va(3), va(30), va(30))
local function tail(n, s) if n == 0 then return s end return tail(n - 1, s + n) end
for n = 100, 1000, 300 do print(tail(n, 0), tail(n, 0.5)) end
local a, b
function a(n, s) if n == 0 then return s end return b(n - 1, s * 2 % 1009) end
function b(n, s) if n == 0 then return -s end return a(n - 1, s + 3) end
print(a(1000, 1), a(1001, 1), b(500, 2))
local s = 0
for i = 1, 60 do
  local f = load("local n = ... local function r(n) if n == 0 then return " .. i ..
    " end return r(n - 1) + 1 end return r(n)")
  s = s + f(i) + f(12)
  f = nil
  if i % 10 == 0 then collectgarbage() end
end
print(s)
local object = setmetatable({}, {
  __index = function(self, k) if k == 0 then return 0 end return self[k - 1] + k end,
  __call = function(self, n) if n == 0 then return 1 end return self(n - 1) * 2 % 1000003 end })
print(object[20], object[60], object(30), object(100))
for i = 1, 40 do
  local sum = 0
  for _, v in ipairs { loops(i), tail(i, 1), va(i % 5) } do sum = sum + (tonumber(v) or 7) end
  io.write(sum, " ")
end
print()
