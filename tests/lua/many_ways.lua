-- Loops with several ways, each of which ends at the loop's head: the code of all of them becomes one
-- function. What the ways read and write differs, and so do the types.

local seed = 7
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n
end

local N = 200
local kinds, values = {}, {}
for i = 1, N do kinds[i], values[i] = random(5), random(1000) - 500 end

local function run(rounds, limit)
  local a, b, c, text, last = 0, 0.5, {}, "", nil
  for r = 1, rounds do
    for i = 1, N do
      local kind, v = kinds[i], values[i]
      if kind == 0 then
        a = a + v
      elseif kind == 1 then
        b = b * 0.5 + v
        if v > limit then c[#c + 1] = v end
      elseif kind == 2 then
        if last then last.n = last.n + 1 else last = { n = 0, r = r } end
      elseif kind == 3 then
        if #text > 40 then text = "" end
        text = text .. (v % 10)
      else
        a, b = a ~ v, b + a % 3
        last = nil
      end
      if #c > 50 then c = {} end
    end
  end
  return a, string.format("%.6f", b), #c, text, last and last.n
end

for _, limit in ipairs { 400, -600, 0.5, 600 } do print(run(12, limit)) end

-- A way that changes the type of what the head reads.
local function types(n)
  local s, out = 0, {}
  for i = 1, n do
    if i % 37 == 0 then
      s = s + 0.5
    elseif i % 41 == 0 then
      s = s // 1 | 0
    elseif i % 2 == 0 then
      s = s + i
    else
      s = s - 1
    end
    if i % 100 == 0 then out[#out + 1] = s end
  end
  return table.concat(out, " ")
end
print(types(1500))

-- Ways that are left by errors, by returns and by breaks, with what they have changed until then.
local function search(t, wanted)
  local steps, found = 0, nil
  for i = 1, #t do
    steps = steps + 1
    if t[i] == wanted then
      found = i
      break
    elseif t[i] % 7 == 0 then
      steps = steps + 10
    elseif t[i] % 11 == 0 and wanted == 999 then
      error({ steps = steps, at = i })
    elseif t[i] < -490 then
      return -steps
    end
  end
  return found and steps or -1
end
local sum, errors = 0, 0
for i = 1, 300 do
  local ok, result = pcall(search, values, i % 9 == 0 and 999 or values[i % N + 1])
  if ok then sum = sum + result else sum, errors = sum + result.steps, errors + result.at end
end
print(sum, errors)
