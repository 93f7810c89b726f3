-- Keys that loops put into tables which they make: places that are free, taken, given up by other keys, or
-- reached by a chain; tables that have room and tables that grow. The order of 'next' shows where each went.

-- The order of 'next' depends on the hashes of strings, which are others in each run, but in tests.
local is_same = os.getenv("TRACELIFT_SAME_HASHES") == "1"

local function order(t)
  local keys = {}
  for k, v in next, t do keys[#keys + 1] = tostring(k) .. "=" .. tostring(v) end
  if not is_same then table.sort(keys) end
  return table.concat(keys, " ")
end

local names = {}
for i = 1, 40 do names[i] = "k" .. i * 7919 % 1000 end
local seed = 11
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end
local function name() return names[random(#names)] end

-- A loop that makes tables in one way: some keys in the constructor, others later, some of these given up.
local function filler()
  local parts = { "local keep = ...\nfor i = 1, 24 do\nlocal t = {" }
  for _ = 1, random(5) - 1 do parts[#parts + 1] = name() .. " = i, " end
  parts[#parts + 1] = "}\n"
  for step = 1, random(7) do
    local way = random(7)
    local line = "t.%s = i + %d\n"
    if way == 1 then line = "t.%s = nil -- %d\n"
    elseif way == 2 then line = "if i %% 7 == 0 then t.%s = %d end\n"
    elseif way == 3 then line = "t[i] = '%s%d'\n"
    end
    parts[#parts + 1] = line:format(name(), step)
  end
  parts[#parts + 1] = "keep[i] = t\nend"
  return assert(load(table.concat(parts)))
end

for round = 1, 60 do
  local keep = {}
  filler()(keep)
  print(round, order(keep[1]), "|", order(keep[7]), "|", order(keep[24]))
end
