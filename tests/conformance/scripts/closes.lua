-- Variables that are closed when the script ends, in whatever way; the first argument says which.
local how = ...
local function closing(name, fails)
  return setmetatable({}, { __close = function(_, why)
    print("closing", name, why)
    if fails then error("in " .. name) end
  end })
end
local first <close> = closing("first", how == "both")
local second <close> = closing("second")
if how == "error" then error("the end") end
if how == "both" then error("before") end
if how == "exit" then os.exit(3, true) end
if how == "gc" then
  setmetatable({}, { __gc = function() error("in a finalizer") end })
end
print("done")
