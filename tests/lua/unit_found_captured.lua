-- A loop whose local is captured and changed by a recursion that returns in two kinds of ways, so that it is
-- left at its bottom: the loop's own copy of the local is not what it is then.
local count, sum = 0, 0.5
local function down(n)
  count = count + 1
  if n <= 0 then return 5 end
  sum = sum + n
  local r = down(n - 1)
end
local list = {}
for i = 1, 12 do
  local r = down(i)
  list[#list + 1] = count
end
print(table.concat(list, " "), count, sum)

-- The same in a function that the loop takes in, and in a method.
local object = { steps = 0 }
local steps = 0
function object:down(n)
  if n <= 0 then return end
  steps = steps + 1
  self.steps = self.steps + 2
  local r = self:down(n - 2)
  return r
end
local function run(n)
  local before = steps
  object:down(n)
  return steps - before
end
for i = 1, 30 do
  local d = run(i % 9)
  io.write(d, " ", steps, i % 10 == 0 and "\n" or " ")
end
print(object.steps)

-- A local of the loop's body, of which the recursion has another one each time.
for i = 1, 20 do
  local mine = i
  local function change(n)
    mine = mine + 1
    if n <= 0 then return mine end
    local r = change(n - 1)
  end
  change(i % 5)
  mine = mine * 2
  change(3)
  io.write(mine, i % 10 == 0 and "\n" or " ")
end
