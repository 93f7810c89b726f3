-- Loops whose exits make tables: nested, with an array part, cyclic, in two variables at once, with a nil among their
-- values; left by a guard in the middle, at the end, and by an error. Run with memory refused at every point.
local function check(round, n)
  local last, list, node, other, inner, hole
  local hits = 0
  for i = 1, n do
    last = { x = i, y = { z = i + 1, w = i * 0.5 } }
    list = { i, i + 1, i + 2 }
    node = { v = i, self = false }
    node.self = node
    other = node
    inner = last.y
    hole = { i, nil, i }
    if i % 5 == round then hits = hits + list[2] end
  end
  local keys = {}
  for k in pairs(last) do keys[#keys + 1] = k end
  table.sort(keys)
  return last.x, last.y.z, last.y.w, list[1], list[3], #list, node.v, node.self == node, other == node, inner == last.y,
         hole[1], hole[2], hole[3], hits, table.concat(keys, " ")
end

local function fails(n)
  local kept, at
  local ok, message = pcall(function ()
    for i = 1, n do
      kept = { i, of = { i } }
      at = i < n and kept or nil
      local _ = at.of[1]
    end
  end)
  return kept[1], kept.of[1], ok, message
end

for round = 1, 3 do
  print(pcall(check, round, 10 + round))
  print(pcall(fails, 10 + round))
end
