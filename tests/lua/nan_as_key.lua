-- A key that becomes NaN in a hot loop: an error where a value is stored, also nil for what is not there, and
-- nothing where it is read. By plain assignment, by rawset, in a function that is called, through a metamethod
-- that is there or not, and with a value there before.
local nan = 0 / 0
local COUNT = 400

local function run(name, body)
    local key = 1.5
    local reached = 0
    local ok, message = pcall(function()
        for i = 1, COUNT do
            body(key, i)
            reached = i
            if i == COUNT - 10 then
                key = nan
            end
        end
    end)
    print(name, ok, reached, message)
end

local t = {}
run("nil for nothing", function(k) t[k] = nil end)
run("a number", function(k, i) t[k] = i end)
run("nil for something", function(k) t[k] = nil end)
run("a table each time", function(k) local new = {} new[k] = true end)
run("nil in a table each time", function(k) local new = {} new[k] = nil end)
run("rawset nil", function(k) rawset(t, k, nil) end)
run("rawset", function(k, i) rawset(t, k, i) end)
run("rawget", function(k) assert(rawget(t, k) == nil or k == k) end)
run("read", function(k) assert(t[k] == nil or k == k) end)
run("constructor", function(k) return { [k] = nil } end)
run("constructor with a value", function(k) return { [k] = 1 } end)

local written = 0
local proxy = setmetatable({}, { __newindex = function() written = written + 1 end })
run("metamethod", function(k) proxy[k] = nil end)
print(written)
local behind = setmetatable({}, { __newindex = t })
run("table in its place", function(k) behind[k] = nil end)
run("other metamethods", function(k) setmetatable(t, { __index = {} })[k] = nil end)

-- In the loop itself, and the key from what a coroutine hands over.
local v = 1.5
print(pcall(function()
    for i = 1, COUNT do
        local k = v
        t[k] = nil
        if i == COUNT - 10 then
            v = nan
        end
    end
end))
local keys = coroutine.wrap(function()
    for i = 1, COUNT do
        coroutine.yield(i + .5)
    end
    coroutine.yield(nan)
end)
print(pcall(function()
    while true do
        t[keys()] = nil
    end
end))
