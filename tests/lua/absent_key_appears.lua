-- Fields that an object lacks, and so its class is asked: in tables of all sizes, with and without other
-- keys in the way of the search. Then the object gets a field of that name, or one that is taken away again.
local classes = {}
for c = 1, 3 do
    local methods = {}
    for m = 1, 6 do
        methods["m" .. m] = function(self) return self.id * 10 + m * c end
    end
    classes[c] = { __index = methods }
end

local function object(id, fields)
    local o = { id = id }
    for f = 1, fields do
        o["f" .. id .. "_" .. f] = f
    end
    return setmetatable(o, classes[id % 3 + 1])
end

local objects = {}
for id = 1, 24 do
    objects[id] = object(id, id % 9)
end

local function ask()
    local sum = 0
    for round = 1, 30 do
        for i = 1, #objects do
            local o = objects[i]
            sum = sum + o:m1() + o:m2() + o:m3() + o:m4() + o:m5() + o:m6()
            if o.absent then sum = sum + o.absent end
            if rawget(o, "m4") == nil then sum = sum + 1 end
        end
    end
    return sum
end

print(ask())
for id = 1, 24, 3 do
    objects[id]["m" .. id % 6 + 1] = function() return 1 end
end
print(ask())
for id = 1, 24, 2 do
    objects[id].absent = id
end
print(ask())
for id = 1, 24 do
    objects[id].absent = nil
    objects[id]["m" .. id % 6 + 1] = nil
end
print(ask())
classes[2].__index = { m1 = print and function() return 7 end }
for m = 2, 6 do
    classes[2].__index["m" .. m] = classes[1].__index["m" .. m]
end
print(ask())

-- The same with names that are arguments: constants where the function is part of the trace.
local function field(t, name)
    return t[name]
end
local function put(t, name, value)
    t[name] = value
end
local total = 0
for i = 1, 200 do
    local o = objects[i % 24 + 1]
    total = total + (field(o, "id") or 0) + (field(o, "kind") or 1000) + field(o, "m1")(o)
    put(o, "kind", i % 5 ~= 0 and i or nil)
    put(o, "id", i % 7)
end
print(total)
