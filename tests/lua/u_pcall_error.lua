-- Functions that pcall has called fail now and then: in arithmetic, in a C function, with values of all
-- types, through an inlined function, in a tail call, in a function with variable arguments.

local function divide(a, b)
	if b == 0 then error("zero") end
	return a // b
end

local function arith(x) return x + 1 end
local function through(a, b) return (divide(a, b)) + 1 end
local function tail(a, b) return divide(a, b) end
local function varied(a, ...)
	local b, c = ...
	if c then error({ code = c }) end
	return a, b, select("#", ...)
end
local function thrown(x)
	if x % 50 == 0 then error(x, 0) end
	if x % 70 == 0 then error() end
	if x % 90 == 0 then error(true) end
	return x
end

local failures, sum, messages = 0, 0, {}
local function note(ok, message)
	if ok then return end
	failures = failures + 1
	local text = type(message) == "table" and "code " .. message.code or tostring(message)
	messages[text] = (messages[text] or 0) + 1
end

for i = 1, 600 do
	local ok, v = pcall(divide, i, i % 40)
	if ok then sum = sum + v else note(ok, v) end
	ok, v = pcall(through, i, i % 60)
	if ok then sum = sum + v else note(ok, v) end
	ok, v = pcall(tail, i, i % 80)
	if ok then sum = sum + v else note(ok, v) end
	ok, v = pcall(arith, i % 100 ~= 0 and i or "x")
	if ok then sum = sum + v else note(ok, v) end
	local a, b, c
	if i % 30 == 0 then
		local d, e = i, i
		ok, a, b, c, d, e = pcall(varied, i, 2, 3)
		assert(b == nil and c == nil and d == nil and e == nil)
		note(ok, a)
	else
		ok, a, b, c = pcall(varied, i, 2)
		sum = sum + a + b + c
	end
	local w, x, y, z = pcall(divide, i, i % 45)
	assert(y == nil and z == nil)
	note(w, x)
	ok, v = pcall(thrown, i)
	if ok then sum = sum + v else note(ok, v) end
end

local names = {}
for text in pairs(messages) do names[#names + 1] = text end
table.sort(names)
for _, text in ipairs(names) do print(text, messages[text]) end
print(failures, sum)
