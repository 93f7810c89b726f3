-- What a protected function that compiled code has taken in shows of its frames when it fails or looks.

local function locals(level)
	local list = {}
	for n = 1, 4 do
		local name, value = debug.getlocal(level + 1, n)
		if not name then break end
		list[#list + 1] = name .. "=" .. (type(value) == "number" and value or type(value))
	end
	return table.concat(list, " ")
end

local function look(i, limit)
	local here = i * 2
	if i >= limit then
		local lines = { debug.traceback("at " .. here, 1), locals(1), locals(2), locals(3) }
		for level = 1, 4 do
			local info = debug.getinfo(level, "nSltu")
			lines[#lines + 1] = table.concat({ tostring(info.name), info.what, info.currentline, info.namewhat,
				tostring(info.istailcall), info.nparams }, " ")
		end
		error(table.concat(lines, "\n"), 0)
	end
	return here
end

local function look_and_more(i, ...)
	local v = look(i, ...)
	return v + 1
end

local function tail(i, limit) return look(i, limit) end

local function loop(f, limit)
	local sum, text = 0, nil
	for i = 1, limit + 3 do
		local ok, v = pcall(f, i, limit)
		if ok then sum = sum + v else text = v end
	end
	return sum, text
end

for _, f in ipairs { look, look_and_more, tail } do
	for _, limit in ipairs { 120, 300 } do print(loop(f, limit)) end
end

-- what nobody wants of the results lies where pcall was, and is not there before
local seen
local function watch(i, limit)
	if i >= limit then
		local info = debug.getinfo(2, "nSf")
		seen = table.concat({ tostring(info.name), info.what, tostring(info.func == pcall), locals(2) }, " ")
		seen = debug.traceback(seen)
	end
	return i
end
local function ignored(limit)
	local sum = 0
	for i = 1, limit + 2 do
		pcall(watch, i, limit)
		sum = sum + (i * 3 + (i % 7) * (i + 1)) % 11
	end
	return sum
end
print(ignored(150), seen)
print(ignored(333), seen)

-- a handler outside sees the frames of the error that pcall catches not at all
local function outer(limit)
	local sum = 0
	for i = 1, limit do
		local ok, v = pcall(look, i, limit)
		sum = sum + (ok and v or 1)
	end
	error("sum " .. sum)
end
print(xpcall(outer, function(message) return "handled " .. message end, 200))
