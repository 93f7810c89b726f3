-- Protected functions within protected functions: each error finds the next handler, whoever has yielded.

local function step(i, pause)
	if i % pause == 0 then
		local got = coroutine.yield(i)
		if got == "fail" then error("told") end
	elseif i % 41 == 0 then
		error { i }
	end
	return i
end

local function deeper(i, pause)
	local ok, v = pcall(step, i, pause)
	if not ok then error(type(v) == "table" and v[1] or "again", 0) end
	return v
end

local function deepest(i, pause)
	local ok, v = pcall(deeper, i, pause)
	if not ok then error(v, 0) end
	return v
end

local function body(f, n, pause)
	local failed, sum, last = 0, 0, nil
	for i = 1, n do
		local ok, v = pcall(f, i, pause)
		if ok then sum = sum + v else failed, last = failed + 1, v end
	end
	return failed, sum, last
end

for _, f in ipairs { deeper, step, deepest } do
	for _, pause in ipairs { 97, 250, 7, 97, 1000 } do
		local co = coroutine.create(body)
		local yields, ok, failed, sum, last = 0, coroutine.resume(co, f, 600, pause)
		while coroutine.status(co) == "suspended" do
			yields = yields + 1
			ok, failed, sum, last = coroutine.resume(co, yields % 3 == 0 and "fail" or 1)
		end
		print(yields, ok, failed, sum, type(last) == "table" and last[1] or last)
	end
end

-- a loop that has code, in which a function of the library fails
local function inner(i, n)
	local sum = 0
	for j = 1, n do
		if i % 40 == 0 and j == n - 1 then string.rep("x", -1, error(i, 0)) end
		sum = sum + #tostring(j)
		if i % 50 == 7 and j == 3 then setmetatable(1, 2) end
	end
	return sum
end

local function middle(i, n)
	local ok, v = pcall(inner, i, n)
	if not ok then error(v, 0) end
	return v
end

for _, n in ipairs { 2, 5, 30, 200 } do
	for _, f in ipairs { inner, middle } do
		print(n, body(f, 300, n))
		print(n, coroutine.wrap(body)(f, 300, n))
	end
end
