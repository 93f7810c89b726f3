-- Recursion through tables of functions: an evaluator with one function for each kind of node, a machine
-- whose table changes while it runs, and arrays of functions that are taken by number.
local eval = {}
local function visit(node) return eval[node[1]](node) end
function eval.num(node) return node[2] end
function eval.add(node) return visit(node[2]) + visit(node[3]) end
function eval.mul(node) return visit(node[2]) * visit(node[3]) end
function eval.neg(node) return -visit(node[2]) end
function eval.sum(node)
  local s = 0
  for i = 2, #node do s = s + visit(node[i]) end
  return s
end
eval["if"] = function(node)
  if visit(node[2]) > 0 then return visit(node[3]) end
  return visit(node[4])
end
local seed = 7
local function random(n) seed = seed * 16807 % 2147483647 return seed % n end
local kinds = { "add", "mul", "neg", "sum", "if" }
local function make(depth)
  if depth == 0 or random(6) == 0 then
    local r = random(5)
    return { "num", r == 0 and 0.5 or r == 1 and math.maxinteger or r }
  end
  local kind = kinds[random(#kinds) + 1]
  if kind == "neg" then return { kind, make(depth - 1) } end
  if kind == "add" or kind == "mul" then return { kind, make(depth - 1), make(depth - 1) } end
  return { kind, make(depth - 1), make(depth - 1), make(depth - 1) }
end
local trees = {}
for i = 1, 12 do trees[i] = make(i % 5 + 1) end
for round = 1, 8 do
  for i, t in ipairs(trees) do
    local v = visit(t)
    if round == 1 or round == 8 then print(round, i, v) end
  end
end
-- A kind gets another function while the tree is being walked.
local plain_num, calls = eval.num, 0
function eval.num(node)
  calls = calls + 1
  if calls % 40 == 0 then eval.num = plain_num end
  return node[2] + 1
end
local counted = eval.num
for round = 1, 6 do
  local line = {}
  for i, t in ipairs(trees) do line[i] = tostring(visit(t)) end
  print(round, calls, table.concat(line, " "))
  eval.num = counted
end
eval.neg = nil
local fails = 0
for i, t in ipairs(trees) do
  local ok, e = pcall(visit, t)
  if not ok then
    fails = fails + 1
    if fails <= 2 then print(i, e) end
  end
end
print(fails)

-- Functions by number: each hands on to another one, which the argument says.
local ring = {}
for k = 0, 4 do
  ring[k] = function(n, s)
    if n == 0 then return s end
    local r = ring[(n + k) % 5](n - 1, s * 3 + k)
    return (r + k) % 1000003
  end
end
local total = 0
for n = 1, 100 do total = total + ring[n % 5](n % 31, n) end
print(total)
ring[2] = function(n, s) return s / 2 end
ring[5] = ring[2]
total = 0
for n = 1, 100 do total = total + ring[n % 6](n % 31, n) end
print(total)
