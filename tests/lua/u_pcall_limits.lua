-- Protected calls at the limits: recursion through pcall until C levels or the stack run out, and the loop
-- that goes on as if nothing had been; loops and calls of all kinds in protected functions.

local depth = 0
local function down(n)
	depth = depth + 1
	local ok, v = pcall(down, n + 1)
	if not ok then return v end
	return v
end

local function dig(n)
	depth = depth + 1
	return 1 + dig(n + 1)
end

local function short(text) return (tostring(text):gsub("\n.*", ""):gsub("%(.*", "")) end

for i = 1, 3 do
	depth = 0
	local ok, v = pcall(down, 1)
	print(ok, short(v), depth)
	depth = 0
	ok, v = pcall(dig, 1)
	print(ok, short(v), depth > 10000)
end

local function looped(n)
	local sum = 0
	for i = 1, n do sum = sum + i end
	return sum
end
local function calls(n) return string.format("%d", n) end
local function sorts(n)
	local list = { n % 7, n % 5, n % 3 }
	table.sort(list, function(a, b) return a < b end)
	return list[1] * 100 + list[2] * 10 + list[3]
end
local function resumes(n)
	local co = coroutine.wrap(function(x) coroutine.yield(x + 1) end)
	return co(n)
end
local function hooks(n)
	if n % 100 == 0 then
		local count = 0
		debug.sethook(function() count = count + 1 end, "l")
		local x = n
		x = x + 1
		debug.sethook()
		return count
	end
	return n
end
local function nested(n)
	local ok, v = pcall(looped, n % 10)
	local ok2, v2 = pcall(calls, n)
	return v + #v2
end

local function fact(n) return n < 2 and 1 or n * fact(n - 1) end

for _, f in ipairs { looped, calls, sorts, resumes, hooks, nested, fact } do
	local sum = 0
	for i = 1, 300 do
		local ok, v = pcall(f, i % 20 + (f == hooks and i or 0))
		sum = sum + (ok and tonumber(v) or 1000)
	end
	print(sum)
end
