-- Yields that can return to the resume, and others that have C functions to jump over, mixed: from calls and
-- tail calls, through metamethods, iterators, protected calls and nested coroutines, before and after errors;
-- what hooks, tracebacks and debug.getinfo see of them.

local yield = coroutine.yield

local function plain(n) for i = 1, n do yield(i) end return "end" end
local function tail(n) if n == 0 then return "end" end yield(n) return tail(n - 1) end
local function tail_yield(n) return yield(n) end
local indexed = setmetatable({}, { __index = function(_, k) return yield(k) end, __index2 = yield })
local function through_index(n) local s = 0 for i = 1, n do s = s + (indexed[i] or 0) end return s end
local c_index = setmetatable({}, { __index = yield })
local function through_c_index(n) local s = 0 for i = 1, n do s = s + (c_index[i] or 0) end return s end
local function iterates(n)
	local s = 0
	for v in function(_, c) c = (c or 0) + 1 if c <= n then return yield(c) or c end end do s = s + v end
	return s
end
local function iterates_yield()
	local s = 0
	for v in yield, 7 do s = s + 1 if s > 20 then break end end
	return s
end
local function protected(n)
	local s = 0
	for i = 1, n do
		local ok, v = pcall(yield, i)
		s = s + (ok and v or 1)
		ok, v = pcall(function(x) local got = yield(x) if x % 5 == 0 then error("five", 0) end return got end, i)
		s = s + (ok and v or #v)
	end
	return s
end
local function nested(n)
	local inner = coroutine.wrap(plain)
	local s = 0
	for i = 1, n do
		local v = inner(n)
		if type(v) == "number" then s = s + yield(v) end
	end
	return s
end
local function many(n)
	for i = 1, n do
		local a, b, c = yield(i, i + 1, i + 2)
		assert(a == i and b == nil and c == nil)
		local list = { yield() }
		assert(#list == 1)
		yield((table.unpack or unpack)({ 1, 2, 3, i }))
	end
	return "end", n
end

local function drive(f, n)
	local co = coroutine.create(f)
	local count, text = 0, {}
	local results = table.pack(coroutine.resume(co, n))
	while coroutine.status(co) == "suspended" do
		count = count + 1
		if count % 37 == 1 then
			text[#text + 1] = results.n .. ":" .. tostring(tonumber(results[2]) or type(results[2]))
			local info = debug.getinfo(co, 0, "nS")
			text[#text + 1] = info.what .. " " .. tostring(info.name)
			text[#text + 1] = #debug.traceback(co)
		end
		results = table.pack(coroutine.resume(co, tonumber(results[2]) or 0))
	end
	print(count, results.n, results[1], results[2], table.concat(text, " "))
end

for round = 1, 2 do
	drive(plain, 400)
	drive(tail, 200)
	drive(tail_yield, 5)
	drive(through_index, 150)
	drive(through_c_index, 150)
	drive(iterates, 100)
	drive(iterates_yield, 1)
	drive(protected, 100)
	drive(nested, 150)
	drive(many, 60)
	drive(yield, 3)
end

-- errors after a yield, outside and in a protected call around the resume
local function fails(n) for i = 1, n do yield(i) if i == 120 then local x = nil + i end end end
drive(fails, 200)
local step = coroutine.wrap(fails)
local ok, v
for i = 1, 130 do
	ok, v = pcall(step, 200)
	if not ok then break end
end
print(ok, v)

-- a yield where none may be
print(pcall(yield, 1))
local function yields_in_sort()
	table.sort({ 3, 2, 1 }, function(a, b) yield() return a < b end)
end
print(coroutine.resume(coroutine.create(yields_in_sort)))
print(coroutine.resume(coroutine.create(function() return string.gsub("abc", "%w", yield) end)))

-- hooks see the calls and the returns of yield
local events = {}
local co = coroutine.create(plain)
debug.sethook(co, function(event)
	local info = debug.getinfo(2, "nS")
	events[#events + 1] = event:sub(1, 1) .. (info.name or "?"):sub(1, 1)
end, "cr")
for _ = 1, 4 do coroutine.resume(co, 3) end
print(table.concat(events, " "))

-- a hook that counts while a generator runs hot, and closing what is suspended
local counted = 0
local hot = coroutine.wrap(function()
	local s = 0
	for i = 1, 600 do
		if i == 300 then debug.sethook(function() counted = counted + 1 end, "", 1) end
		if i == 320 then debug.sethook() end
		s = s + (yield(s) or 0)
	end
	return "done"
end)
local sum = 0
for i = 1, 601 do
	local got = hot(i)
	if type(got) == "number" then sum = sum + got % 7 end
end
print(sum, counted > 100)
local closing = coroutine.create(function()
	local x <close> = setmetatable({}, { __close = function() print("closed") end })
	for i = 1, 500 do yield(i) end
end)
for _ = 1, 300 do coroutine.resume(closing) end
print(coroutine.close(closing), coroutine.status(closing))
