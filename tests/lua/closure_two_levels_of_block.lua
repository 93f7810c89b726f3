-- A block in a function ends, and with it one of two variables of a closure that lives on. The other is a
-- parameter, which is closed when the function returns, also if a closure that nobody has kept shares it.
-- What the closures have must outlive what is written to the stack after that.
local made = {}

local function apply (f)
  return f()
end

local function fill (a, b, c, d, e, f, g, h)
  local i, j, k, l = a, b, c, d
  return select("#", a, b, c, d, e, f, g, h, i, j, k, l)
end

local function one (p)
  do
    local inner = p + 1
    made[4] = function () return p, inner end
    apply(function () return p end)
  end
  return p
end

local function three (p, q)
  do
    local outer = q
    do
      local inner = p + 1
      made[4] = function () return p, inner, outer, q end
      apply(function () return outer end)
    end
    apply(function () q = q + 1; return q end)
  end
  return p
end

-- Also where the function that is closed over is called in place of another.
local function last (p)
  do
    local inner = -p
    made[4] = function () p = p + 1; return p, inner end
    apply(function () return p end)
  end
  return one(p)
end

for _, f in ipairs { one, three, last } do
  local sum = 0
  for round = 1, 40 do
    for n = 1, 100 do
      sum = sum + f(round + n, n)
    end
    local own = made[4]
    fill(1, 2, 3, 4, 5, 6, 7, 8)
    print(round, sum, own())
    print(own())
  end
end
