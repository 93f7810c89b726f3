-- Tail calls of functions of the library: with fixed results, with all results, through methods of texts,
-- with errors inside, and of functions that call back into Lua; a tail call of what is C or Lua in turn.
local function floor(x) return math.floor(x) end
local function upper(s) return s:upper() end
local function concat(t, ...) return table.concat(t, ...) end
local function sel(n, ...) return select(n, ...) end
local function raw(t, k) return rawget(t, k) end
local function meta(t, m) return setmetatable(t, m) end
local function str(x) return tostring(x) end
local function num(x, base) return tonumber(x, base) end
local function unpack(t) return table.unpack(t) end
local function fmt(...) return string.format(...) end
local function find(s, p) return s:find(p) end
local sum = 0
for i = 1, 400 do
  sum = sum + floor(i / 3) + #upper("x" .. i) + #concat({ i, i + 1 }, ",") + sel(2, i, i * 2, 1)
  sum = sum + raw({ i }, 1)
  sum = sum + #str(i) + num(i) + select("#", unpack { i, i }) + #fmt("%d:%s", i, i) + find("abc" .. i, "%d")
  sum = sum + (raw(meta({}, { __index = { 7 } }), 1) or 0.25)
end
print(sum, floor(-0.5), sel("#"), num("zz", 36), find("abc", "d"))
print(pcall(floor, "x"))
print(pcall(floor))
print(pcall(upper, nil))
print(pcall(concat, { 1, {} }))
print(pcall(sel, 0))
print(pcall(fmt, "%d", 1.5))

-- Functions that call back: the callback does a tail call of the same kind.
local function protected(n) if n == 0 then return "bottom" end return pcall(protected, n - 1) end
local function replaced(s, n)
  if n == 0 then return s end
  return s:gsub(".", function(c) return replaced(c, n - 1) end)
end
local function sorted(t) return table.sort(t, function(a, b) return rawlen(a) < rawlen(b) end) end
for n = 0, 12, 4 do print(n, select("#", protected(n)), (select(-1, protected(n)))) end
for n = 0, 6 do print(n, replaced("abc", n)) end
local t = { { 1, 2 }, {}, { 1 }, { 1, 2, 3 } }
print(sorted(t), #t[1], #t[2], #t[3], #t[4])
local function calls(n) return select(2, pcall(string.rep, "ab", n)) end
for n = 0, 3 do io.write(calls(n), ".") end
print()

-- One call site, functions of both kinds in turn; and callable tables.
local callable = setmetatable({}, { __call = function(self, a, b) return "called", a, b end })
local deeper = setmetatable({}, { __call = callable })
local function apply(f, ...) return f(...) end
local list = {
  math.max, function(a, b) return a - b end, math.min, callable, string.rep, function(...) return ... end,
  deeper, rawequal, select, type,
}
local out = {}
for round = 1, 40 do
  for k, f in ipairs(list) do
    local a, b = apply(f, k, round)
    out[k] = tostring(a):sub(1, 12) .. (type(b) == "table" and "t" or tostring(b))
  end
  if round % 20 == 0 then print(round, table.concat(out, " ")) end
end
print(pcall(apply, nil, 1))
print(pcall(apply, setmetatable({}, { __call = 5 }), 1))

-- Tail calls inside coroutines: of yield, wrap's function and resume.
local function yields(...) return coroutine.yield(...) end
local function generator(n)
  if n == 0 then return "end" end
  yields(n, n * 0.5)
  return generator(n - 1)
end
local s = 0
for round = 1, 20 do
  local co = coroutine.wrap(function(n) return generator(n) end)
  local a, b = co(round)
  while a ~= "end" do
    s = s + a + b
    a, b = co()
  end
end
print(s)
local function resume(co, ...) return coroutine.resume(co, ...) end
local co = coroutine.create(function(...)
  local n = select("#", ...)
  while true do n = n + select("#", yields(n)) end
end)
for i = 1, 6 do print(resume(co, table.unpack({}, 1, i))) end
