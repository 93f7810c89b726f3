-- Fields that are looked for where they were found last: tables of other sizes, other orders of keys, keys that are
-- gone; and the short ways of new keys, lengths, empty items, tail calls and open calls.
local function get (t) return t.x end
local function set (t, v) t.x = v return t.x end
local function call (t, a) return t:x(a) end
local function fill (n, first, second)
  local t = { }
  for i = 1, n do t["k" .. i] = i end
  t[first] = 1 t[second] = 2
  return t
end

local inherits = setmetatable({ }, { __index = { x = "inherited" } })
local computed = setmetatable({ }, { __index = function (t, k) return k .. "!" end, __newindex = function (t, k, v)
  rawset(t, "y", v) end })
for round = 1, 60 do
  local log = { }
  local function note (v) log[#log + 1] = tostring(v) end
  for n = 0, 9 do
    local a, b = fill(n, "x", "y"), fill(n, "y", "x")
    note(get(a)) note(get(b)) note(set(a, n)) note(set(b, nil)) note(get(b)) note(set(b, "again"))
    a.x = nil                       -- the key is dead after a collection
    if round % 20 == 0 then collectgarbage() end
    note(get(a)) note(set(a, 7)) note(get(fill(n, "z", "w")))
  end
  note(get(inherits)) note(get(computed)) note(set(computed, 5)) note(rawget(computed, "y")) note(get "text")
  note(pcall(get, nil)) note(pcall(set, 1, 2)) note(call({ x = function (self, a) return a end }, 3))
  note(call(setmetatable({ }, { __index = { x = function (self, a) return a + 1 end } }), 3))
  note(pcall(call, 5, 3)) note(pcall(call, "s", 3)) note(pcall(call, setmetatable({ }, { __index = get }), 1))
  string.x = function (s, a) return s .. a end
  note(call("s", 3)) note(call(("long"):rep(20), 3):len())
  string.x = nil
  if round % 19 == 1 then print(table.concat(log, " ")) end
end

-- a class whose method goes, comes back in another place, and is in the object itself at last
local Class = { name = "c" }
Class.__index = Class
function Class.x (self, a) return self.name .. a end
local object = setmetatable({ }, Class)
for round = 1, 60 do
  if round == 30 then Class.x = nil for i = 1, 20 do Class["m" .. i] = i end end
  if round == 40 then Class.x = function (self, a) return "new" .. a end end
  if round == 50 then object.x = function (self, a) return "own" .. a end end
  local ok, r = pcall(call, object, round)
  if round % 5 == 0 then print(ok, r) end
end

-- new keys, with values of each kind, where __newindex is looked for and is not there, and comes later
local late = { }
local function make (class, v)
  local t = setmetatable({ }, class)
  t.a = v t.b = nil t.c = v t.d = 1 t.a = 2 t.e = false
  return t
end
for round = 1, 60 do
  if round == 40 then late.__newindex = function (t, k, v) rawset(t, k .. "'", v) end end
  local t, keys = make(late, { }), { }
  for k, v in pairs(t) do keys[#keys + 1] = k .. "=" .. type(v) end
  table.sort(keys)
  local literal = { x = round, y = nil, z = { 1, 2, nil, 4 }, [1] = "a", "b" }
  if round % 13 == 0 then print(table.concat(keys, " "), literal.x, literal.y, #literal.z > 0, literal[1]) end
end

-- lengths and items at the end of arrays that grow and shrink
local function push (t, v) t[#t + 1] = v return #t end
local function pop (t) local v = t[#t] t[#t] = nil return v end
local function first (t) t[1] = t[2] return t[1], t[3] end
for round = 1, 40 do
  local t, log = { }, { }
  for i = 1, 40 do log[#log + 1] = push(t, i) if i % 3 == 0 then log[#log + 1] = pop(t) end end
  for i = 1, 30 do log[#log + 1] = tostring(pop(t)) end
  local fixed = { 1, 2, 3, nil, nil, nil }
  fixed[5] = 5 fixed[4] = 4
  local keyed = setmetatable({ 1, 2, 3 }, { __len = function () return 10 end, __index = function (t, i) return -i end })
  log[#log + 1] = #fixed log[#log + 1] = #keyed log[#log + 1] = tostring(keyed[4])
  log[#log + 1] = table.concat({ first { 1, 2, 3 } }, "/") log[#log + 1] = tostring(first { nil, nil, 3 })
  local seen = setmetatable({ nil, nil, 3 }, { __newindex = function (t, i, v) rawset(t, i, -v) end })
  seen[1] = 1 seen[3] = 4
  log[#log + 1] = seen[1] .. "," .. seen[3]
  if round % 13 == 1 then print(table.concat(log, " ")) end
end

-- functions of the library in tail position, and before an open list
local function tail (t) return setmetatable(t, Class) end
local function tail_floor (x) return math.floor(x) end
local function tail_with (...) return select(2, ...) end
local function tail_char (c) return string.char(c) end
local function tail_bad (x) return math.floor(x) end
local function tail_insert (t, v) return table.insert(t, v) end
local function closing (x) local function up () return x end x = x + 1 return math.max(x, up()) end
for round = 1, 60 do
  local log = { getmetatable(tail { }) == Class, tail_floor(2.5), tail_char(65), (tail_with(1, 2, 3)), closing(round) }
  local all = { tail_with(1, 2, 3) }
  local list = { }
  log[#log + 1] = select("#", tail_insert(list, 1)) log[#log + 1] = #list log[#log + 1] = #all
  log[#log + 1] = tostring(math.floor(2.5)) .. string.char(string.byte("a")) .. tostring(tonumber(7))
  log[#log + 1] = select("#", math.floor(1.5), string.char(66)) log[#log + 1] = tostring(pcall(tail_bad, { }))
  log[#log + 1] = tostring(select(2, pcall(tail_bad, "x")))
  local a, b = select(1, "x", "y")
  local c, d = assert(a, b)
  log[#log + 1] = a .. b .. c .. d
  log[#log + 1] = select("#", ("x"):byte(5)) .. select("#", ("x"):byte(1)) .. select("#", list[9])
  for i = 1, #log do log[i] = tostring(log[i]) end
  if round % 19 == 1 then print(table.concat(log, " ")) end
end
