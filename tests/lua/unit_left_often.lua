-- A unit that is left very often, at other depths and by other guards each time, so that it gets side traces,
-- is called no more, and is made again; in turn with one that is never left.
local state = { mode = 0, value = 1, list = { 1, 2, 3 } }
local function busy(n)
  if n == 0 then return state.value end
  local r = busy(n - 1)
  if n == state.mode then
    local kind = state.kind
    if kind == 1 then return r + 0.5 elseif kind == 2 then return #state.list + r
    elseif kind == 3 then state.list[#state.list + 1] = r return r
    elseif kind == 4 then state.extra = (state.extra or 0) + 1 return r
    elseif kind == 5 then state.value = state.value + 1 return r
    elseif kind == 6 then return math.floor(r) elseif kind == 7 then return -r
    elseif kind == 8 then return r > 10 and 1 or r elseif kind == 9 then state.list = { r } return r end
  end
  return r + 1
end
local function calm(n) if n == 0 then return 0 end return calm(n - 1) + 2 end
local sum = 0
for i = 1, 600 do
  state.mode, state.kind = i % 17, i % 10
  if i % 50 == 0 then state.value = 1 end
  sum = sum + busy(12) + calm(i % 9)
  if i % 60 == 0 then print(i, sum, state.value, #state.list, state.extra) end
end
state.mode = -1
print(busy(12), busy(100), calm(100))

-- Always left at the bottom, by a type that alternates.
local turn = 0
local function bottom()
  turn = turn + 1
  local k = turn % 6
  if k == 0 then return 1 elseif k == 1 then return 1.5 elseif k == 2 then return "2"
  elseif k == 3 then return nil elseif k == 4 then return { 7 } else return true end
end
local function climb(n)
  if n == 0 then return bottom() end
  local r = climb(n - 1)
  if type(r) == "table" then return r[1] + n elseif r == nil then return n elseif r == true then return -n end
  return r + 1
end
for i = 1, 200 do
  local r = climb(i % 5)
  io.write(type(r) == "table" and "t" or tostring(r), i % 25 == 0 and "\n" or " ")
end
-- Many units, each for a while.
local function make(k)
  local text = "local k = ... local function f(n) if n < k then return n end "
  return load(text .. "return f(n - 1) + f(n - 2) + k end return f")(k)
end
for k = 1, 25 do
  local f = make(k % 5 + 1)
  io.write(f(6), " ", f(k % 8), " ", f(7.0), "; ")
end
print()
