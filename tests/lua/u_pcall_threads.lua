-- Protected functions in coroutines: they yield where compiled code has been left, and fail after that.

local function step(i, pause)
	if pause and i % pause == 0 then
		local got = coroutine.yield(i)
		if got == "fail" then error("told to at " .. i) end
		return got
	end
	return i * 2
end

local function deeper(i, pause)
	local ok, v = pcall(step, i, pause)
	if not ok then error(v .. " again", 0) end
	return v
end

local function body(f, pause)
	return function(n)
		local sum, failed = 0, 0
		for i = 1, n do
			local ok, v = pcall(f, i, pause)
			if ok then sum = sum + v else failed = failed + 1 end
		end
		return "sum", sum, failed
	end
end

local function drive(f, pause, n)
	local co = coroutine.create(body(f, pause))
	local ok, what, sum, failed = coroutine.resume(co, n)
	local yields = 0
	while coroutine.status(co) == "suspended" do
		yields = yields + 1
		ok, what, sum, failed = coroutine.resume(co, yields % 3 == 0 and "fail" or 1)
	end
	print(yields, ok, what, sum, failed)
end

for _, f in ipairs { step, deeper } do
	for _, pause in ipairs { 7, 97, 250 } do drive(f, pause, 1000) end
	drive(f, nil, 500)
end

-- the same function in the main thread, where it must not yield
local sum, text = 0, nil
for i = 1, 400 do
	local ok, v = pcall(step, i, 150)
	if ok then sum = sum + v else text = v end
end
print(sum, text)

-- a coroutine that is closed while its protected function waits
local co = coroutine.create(body(step, 300))
print(coroutine.resume(co, 1000))
print(coroutine.close(co), coroutine.status(co))
