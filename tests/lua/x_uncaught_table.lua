-- A table with __tostring thrown out of a coroutine inside a hot loop, with a finalizer and a closing variable on the way.
local mt = { __tostring = function(e) return "custom " .. e.code end }
local log = setmetatable({}, { __gc = function() print("finalizer") end })
local s = 0
local co = coroutine.wrap(function()
  for i = 1, 100 do
    local guard <close> = setmetatable({}, { __close = function(_, e) if e then print("closing", e.code) end end })
    s = s + i
    if i % 10 == 0 then coroutine.yield(s) end
    if i == 85 then error(setmetatable({ code = s }, mt)) end
  end
end)
for i = 1, 20 do print(co()) end
