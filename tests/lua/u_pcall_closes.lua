-- Protected functions that make closures and variables to be closed, and fail before or after; their tables
-- live, and are collected, as without compiled code.

local log = {}
local function resource(n)
	return setmetatable({ n = n }, { __close = function(r, e) log[#log + 1] = r.n .. ":" .. tostring(e) end })
end

local function with(i, every)
	local r <close> = i % 60 == 0 and resource(i) or nil
	if i % every == 0 then error("no " .. i, 0) end
	return i
end

local kept
local function captures(i, every)
	local x = i
	local f = function() x = x + 1 return x end
	if i % 77 == 0 then kept = f end
	if i % every == 0 then error(f) end
	return f()
end

local weak = setmetatable({}, { __mode = "k" })
local function boxes(i, every)
	local box = { i }
	if i % every == 0 then
		weak[box] = i
		error(box)
	end
	return box[1] + #box
end

local sum, failures = 0, 0
for i = 1, 400 do
	local ok, v = pcall(with, i, 90)
	sum = sum + (ok and v or #v)
	ok, v = pcall(captures, i, 110)
	if type(v) == "function" then v = v() failures = failures + 1 end
	sum = sum + v
	ok, v = pcall(boxes, i, 130)
	if not ok then v = weak[v] failures = failures + 1 end
	sum = sum + v
	if i % 150 == 0 then collectgarbage() end
end
print(sum, failures, kept(), kept())
print(table.concat(log, " "))
collectgarbage()
print(next(weak))
