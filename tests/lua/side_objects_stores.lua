-- Exits with stores that wait, into objects that are real, and with objects in the frames of called functions.
local box = { link = false, n = 0, list = { 0, 0, 0 } }

-- the store of an object that does not exist yet waits over the guards
local function waits(n)
  local sum = 0
  for i = 1, n do
    local r = { v = i }
    box.link = r
    if i % 3 == 1 then
      sum = sum + box.link.v
      box.link = { v = -i, old = r }
    end
    if i % 5 == 2 then box.n = box.n + box.link.v end
    sum = sum + r.v
  end
  return sum, box.n, box.link.v, box.link.old and box.link.old.v
end
print(waits(60))

-- into an array, where the tag waits too
local function items(n)
  local sum, list = 0, box.list
  for i = 1, n do
    local r = { i }
    list[2] = r
    if i & 3 == 3 then
      sum = sum + list[2][1]
      list[1] = list[2]
      list[2] = i
    end
    if i % 7 == 0 then list[3] = r end
    if list[2] == i then sum = sum + 1000 end
  end
  return sum, list[1][1], type(list[2]), list[3][1]
end
print(items(60))

-- two that hold each other; one waits in a real object, one is in a local variable
local function pairs_of(n)
  local sum = 0
  for i = 1, n do
    local a, b = { v = i }, { v = -i }
    a.other, b.other = b, a
    box.a = a
    if i % 4 == 0 then
      b.v = b.v * 2
      sum = sum + box.a.other.v
    else
      sum = sum + b.other.v
    end
  end
  return sum, box.a.v, box.a.other.v, box.a.other.other == box.a
end
print(pairs_of(50))

-- in the frames of called functions
local function weigh(p, i)
  local copy = { v = p.v, from = p }
  if i % 3 == 0 then
    copy.v = copy.v + copy.from.v
    return copy
  elseif i % 10 == 4 then
    return nil
  end
  return p
end
local function called(n)
  local sum, last = 0, nil
  for i = 1, n do
    local p = { v = i }
    local q = weigh(p, i)
    if q == nil then sum = sum - 1 else sum = sum + q.v end
    if q ~= p then last = q end
  end
  return sum, last and last.v, last and last.from.v
end
print(called(61))

-- what one side trace leaves behind is where the next one begins
local function chain(n)
  local sum = 0
  for i = 1, n do
    local p = { v = i, w = { i } }
    if i % 2 == 0 then
      p.v = p.v + 0.5
      if i % 4 == 0 then
        p.w[1] = p.w
        if i % 8 == 0 then
          box.deep = p
          p.w = nil
        end
      end
    end
    sum = sum + p.v
    if p.w and p.w[1] == p.w then sum = sum + 7 end
  end
  return sum, box.deep.v, box.deep.w
end
print(chain(80))

-- upvalues: captured variables hold the object
local function captured(n)
  local held
  local function hold(p) held = p end
  local sum = 0
  for i = 1, n do
    local p = { v = i }
    hold(p)
    if i % 3 == 2 then
      sum = sum + held.v
      held.v = 0
    end
    sum = sum + p.v
  end
  return sum, held.v
end
print(captured(50))

-- weak tables see each object once, however it was made
local seen, count = setmetatable({}, { __mode = "k" }), 0
for i = 1, 40 do
  local p = { v = i }
  if i % 5 == 3 then
    if seen[p] then count = count + 1000 end
    seen[p] = i
  end
  if p.v ~= i then count = count + 1 end
end
for p, i in pairs(seen) do if p.v ~= i then count = count + 1 end end
print(count)
