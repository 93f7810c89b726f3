-- As many results as the call wants, and the function gives: none, one, more; handed on to a list, a call, a
-- return; with fewer and more arguments than parameters; in a chain of protected calls.

local function none() end
local function two(a, b) return b, a end
local function all(...) return ... end
local function count(...) return select("#", ...) end
local function inner(x) return pcall(two, x, x + 1) end
local function handed(x) return (pcall(two, x, 1)) end

local sum = 0
for i = 1, 500 do
	pcall(none)
	local ok = pcall(none, i)
	local yes, nothing = pcall(none)
	assert(ok == true and yes == true and nothing == nil)
	local a, b, c, d = pcall(two, i)
	assert(a and b == nil and c == i and d == nil)
	a, b, c, d = pcall(two, i, 2, 3)
	assert(a and b == 2 and c == i and d == nil)
	local list = { pcall(two, i, i + 1) }
	assert(#list == 3 and list[2] == i + 1)
	sum = sum + count(pcall(two, 1, 2)) + select("#", pcall(none))
	a, b, c, d = pcall(all, i, 2, 3)
	assert(a and b == i and c == 2 and d == 3)
	a, b, c, d = pcall(inner, i)
	assert(a and b and c == i + 1 and d == i)
	a, b, c, d = pcall(pcall, two, i, 7)
	assert(a and b and c == 7 and d == i)
	sum = sum + (handed(i) and 1 or 0) + #tostring((pcall(none)))
	sum = sum + select(2, pcall(two, 1, i))
end
print(sum)

-- what is protected changes: other functions, none at all, other functions under the name of pcall
local callable = setmetatable({}, { __call = function(_, x) return x end })
local kinds = { none, two, all, "x", { 1 }, type, callable }
local function call(protect, f, x)
	local ok, v = protect(f, x)
	return ok, v
end
local seen = {}
for i = 1, 700 do
	local ok, v = call(pcall, kinds[i % #kinds + 1], i)
	seen[i % #kinds] = tostring(ok) .. " " .. tostring(type(v) == "number" and "number" or v)
end
for i = 0, #kinds - 1 do print(i, seen[i]) end
local plain = function(f, x) return "plain", f(x) end
local protects = {}
for i = 1, 300 do protects[i] = i < 250 and pcall or rawequal end
for i = 1, 300 do
	local ok, v = call(i < 200 and pcall or plain, all, i)
	if i == 199 or i == 200 or i == 300 then print(ok, v) end
end
for i = 1, 300 do
	local protect = protects[i]
	local ok, v = protect(all, i)
	if ok ~= (i < 250) then print(i, ok, v) end
end
print(pcall(pcall))
