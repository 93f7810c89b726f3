-- Coroutines, errors and collections inside functions that have code of their own.
local yield, wrap, create, resume = coroutine.yield, coroutine.wrap, coroutine.create, coroutine.resume
local meta = { }
for _, e in ipairs { "add", "sub", "concat", "lt", "le", "eq", "index", "newindex", "call", "unm", "len", "close" } do
  meta["__" .. e] = function (a, b, c) return yield(e) end
end
local function new () return setmetatable({ }, meta) end
local bodies = {
  function () local r = new() + 1 return r end, function () local r = 1 - new() return r end,
  function () local r = "a" .. "b" .. new() .. "c" return r end, function () if new() < new() then return "yes" end return "no" end,
  function () if not (new() <= 1) then return "no" end return "yes" end, function () return new() == new() end,
  function () local t = new() return t.x end, function () local t = new() t.x = 1 return rawget(t, "x") end,
  function () local t = new() return t(1, 2) end, function () local t = new() local r = t(1) return r end,
  function () return -new() end, function () return #new() end, function () local a <close> = new() return "returned" end,
  function () do local a <close> = new() end return "after" end, function () for i in new() do return i end end,
  function () local n = 0 repeat n = n + 1 local t = new() until t < t or n > 3 return n end,
  function () local s = 0 for i = 1, 5 do s = s + (yield(i) or 0) end return s end,
  function () local r = { pcall(function () yield("in pcall") error("thrown") end) } return r[2] end,
  function () return select(2, pcall(pcall, error, "deep")) end,
  function () local t = { 3, 1, 2 } table.sort(t, function (a, b) return a < b end) return table.concat(t) end,
  function () return (("abc"):gsub(".", function (c) return c:upper() end)) end,
  function () local function gen (n) for i = 1, n do yield(i) end end
    local s = 0 for v in wrap(function () gen(4) end) do s = s + v end return s end,
}
for round = 1, 30 do
  local lines = { }
  for n, body in ipairs(bodies) do
    local co = create(body)
    local line = { n }
    local value = nil
    for step = 1, 12 do
      local ok, r = resume(co, value)
      line[#line + 1] = tostring(ok) .. ":" .. (type(r) == "table" and "table" or tostring(r))
      value = step % 2 == 0 and step or nil
      if coroutine.status(co) == "dead" then break end
    end
    lines[#lines + 1] = table.concat(line, " ")
    if round % 4 == 0 then coroutine.close(co) end
  end
  if round % 10 == 0 then print(table.concat(lines, "\n")) end
end
-- collections at every allocation, with finalizers that run code
local finalized = 0
local function make (n) local list = { } for i = 1, n do
    local t = setmetatable({ i, name = "x" .. i }, { __gc = function (o) finalized = finalized + #o end })
    list[i] = function () return t end
  end return list end
collectgarbage("generational")
for i = 1, 40 do local l = make(10) if i % 5 == 0 then collectgarbage("step") end if l[3]()[1] ~= 3 then print("lost") end end
collectgarbage("incremental")
for i = 1, 40 do local l = make(10) if i % 5 == 0 then collectgarbage() end if l[7]().name ~= "x7" then print("lost") end end
collectgarbage() collectgarbage()
print(finalized)
local weak = setmetatable({ }, { __mode = "v" })
local function hold () local t = { } weak[1] = t return 1 end
for i = 1, 30 do hold() end
collectgarbage() print(weak[1])
