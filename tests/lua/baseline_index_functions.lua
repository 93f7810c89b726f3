-- Fields that a function of __index answers: at once, after tables that lack them, with errors and yields in
-- the function, and where the stack grows in it.
local names, asked = {}, {}
local function ask(of, key)
  asked[#asked + 1] = names[of] .. "." .. key
  if key == "wrong" then error("no such field: " .. key) end
  if key == "yields" then return coroutine.yield(names[of]) end
  if key == "deep" then
    local function down(n) if n == 0 then return key end return (down(n - 1)) end
    return down(190)
  end
  if key ~= "nothing" then return key .. "!" end
end
local root = setmetatable({ own = "root" }, { __index = ask })
local middle = setmetatable({ middle = "middle" }, { __index = root })
local leaf = setmetatable({ leaf = "leaf" }, { __index = middle })
names[root], names[middle], names[leaf] = "root", "middle", "leaf"

local function field(t, key)
  return t.leaf, t.middle, t.own, t.some, t.nothing, t[key]
end
local function called(t) return pcall(function() return t:none() end) end

for round = 1, 40 do
  local key = round % 3 == 0 and "deep" or round % 3 == 1 and "wrong" or "other"
  for _, t in ipairs { root, middle, leaf } do
    local found = table.pack(pcall(field, t, key))
    for n = 1, found.n do found[n] = tostring(found[n]) end
    if round > 37 then print(names[t], table.concat(found, " ")) end
    local ok, message = called(t)
    if round > 37 then print(ok, message) end
  end
end
print(#asked, table.concat(asked, " ", #asked - 20))

-- A yield in the function comes back with what it was resumed with.
local function waits(t) return t.yields, t.leaf end
for round = 1, 30 do
  local co = coroutine.create(waits)
  local _, from = coroutine.resume(co, leaf)
  local _, first, second = coroutine.resume(co, round)
  if round > 28 then print(from, first, second) end
end

-- What is neither a table nor a function is asked by its own metatable, or is an error.
local odd = setmetatable({}, { __index = "text" })
local worse = setmetatable({}, { __index = 5 })
local function get(t) return t.rep, t.none end
for round = 1, 30 do
  local a, b = pcall(get, odd)
  local c, d = pcall(get, worse)
  if round == 30 then print(a, b == string.rep, c, d) end
end
