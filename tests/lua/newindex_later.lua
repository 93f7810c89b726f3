-- A field goes away between two runs of a compiled loop that wrote it: then it is __newindex's turn.
local function write(t, n) for i = 1, n do t.x = i end return rawget(t, "x") end
local function write_item(t, n) for i = 1, n do t[3] = i end return rawget(t, 3) end
local calls = 0
local mt = { __newindex = function() calls = calls + 1 end }
local t = setmetatable({ x = 0, y = 1, 10, 20, 30, 40 }, mt)
print(write(t, 20), write_item(t, 20), calls)
t.x = nil
t[3] = nil
print(write(t, 20), write_item(t, 20), calls)
rawset(t, "x", 5)
rawset(t, 3, 5)
print(write(t, 20), write_item(t, 20), calls)
t.x = nil
t.y = nil
collectgarbage()
for i = 1, 20 do rawset(t, "key" .. i, i) end
print(write(t, 20), calls)
setmetatable(t, nil)
print(write(t, 20), calls)
-- A metatable that loses a metamethod and gets it back by a compiled store must not be taken for one without.
local meta = { __index = false, other = 1 }
local function give(m, f, n) for i = 1, n do m.__index = f end end
local object = setmetatable({}, meta)
local seven = function() return 7 end
give(meta, seven, 10)
print(object.z)
meta.__index = nil
print(object.z)
give(meta, seven, 10)
print(object.z)
