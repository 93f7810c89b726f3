-- Userdata that loses its metatable between two calls: the message names the variable that is indexed.
local file, tab = io.tmpfile(), {}
local metatable = getmetatable(file)
local function strip(i, at) if i == at then debug.setmetatable(file, nil) end end
local loops = {
  function(n, at, x) local s = 0 for i = 1, n do pcall(strip, i, at) s = s + x:seek("set", i) end
    return s end,
  function(n, at, x) local s = 0 for i = 1, n do pcall(strip, i, at) s = s + file:seek("set", i) end
    return s end,
  function(n, at, x) for i = 1, n do pcall(strip, i, at) if not x.seek then return i end end end,
  function(n, at, x) tab.g = x for i = 1, n do pcall(strip, i, at) if not tab.g.seek then return i end
    end end,
  function(n, at, x) local k = "k" for i = 1, n do pcall(strip, i, at) x[k] = i x.k = i x[1] = i end
    return n end,
}
metatable.__newindex = function() end
for k = 1, #loops do
  for at = 4, 16, 3 do
    print(k, at, pcall(loops[k], 18, at, file))
    debug.setmetatable(file, metatable)
  end
end
