-- Open lists of results: none, one, many, from C and Lua, passed on, returned, collected and counted.
local unpack, select, pack = table.unpack, select, table.pack
local function results(n) if n == 0 then return end return unpack({ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 1, n) end
local function lua_results(n, ...) if n == 0 then return ... end return lua_results(n - 1, n, ...) end
local function count(...) return select("#", ...) end
local function sum(...)
  local s = 0
  for i = 1, select("#", ...) do s = s + ((select(i, ...)) or 0) end
  return s
end
local function pass(f, n) return f(n) end
local function both(n) return n, results(n) end
local s = 0
for i = 1, 80 do
  local n = i % 10
  s = s + count(results(n)) + count(pcall(results, n)) * 2
  s = s + sum(results(n)) + sum(lua_results(n)) + sum(pass(results, n)) + count(pass(lua_results, n))
  local t = { results(n) }
  local u = { results(n), nil }
  local v = { n, results(n) }
  local w = { (results(n)) }
  s = s + #t * 3 + (u[1] or 0) * 5 + #v * 7 + #w
  s = s + select("#", both(n)) + sum(pcall(both, n) and 1 or 0, both(n))
  local a, b, c = results(n)
  s = s + (a or 10) + (b or 20) + (c or 30)
  local d, e = i, pcall(error)
  s = s + d + (e and 1 or 2)
  s = s % 1000003
end
print(s)
-- More results than registers.
local total = 0
for i = 1, 30 do
  local n = (i * 37) % 300
  total = total + count(unpack({}, 1, n)) + #{ unpack({ 7 }, 1, n + 1) } + pack(unpack({}, 1, n)).n
  total = total + count(("x"):rep(n % 50):byte(1, -1)) + (select(-1, ("abc"):byte(1, n % 3 + 1)))
end
print(total)
-- Method calls, nested calls and constructors over all of them.
local object = { name = "o" }
function object:get(n) return self.name, results(n) end
local text = {}
for i = 1, 40 do
  local n = i % 6
  local line = table.concat({ object:get(n) }, ".") .. "|" .. table.concat({ "a", object:get(n) }, "")
  line = line .. count(object:get(n)) .. tostring((object:get(n)))
  text[n + 1] = line .. #{ n, { results(n) }, results(count(results(n))) }
end
print(table.concat(text, "\n"))
local function tail(i) return pcall(select, i, results(9)) end
local x = 0
for i = 1, 40 do x = x + sum(select(2, tail(i % 9 + 1))) end
print(x)
