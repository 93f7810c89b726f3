-- Closures are kept now and then, so that what they share is open, or not, where a block ends.
local function build(n)
  local kept, total = {}, 0
  for i = 1, n do
    local a = i * 2
    if i % 7 == 0 then goto continue end
    do
      local b = a + 1
      local inc = function(d) b = b + d; return b end
      for j = 1, 3 do
        local c = j
        if j == 2 and i % 5 == 0 then break end
        local g = function() c = c + a; b = b + 1; return c end
        total = total + g()
        if i % 100 == 3 then kept[#kept + 1] = g end
      end
      total = total + inc(i % 3)
    end
    total = total % 1000003
    ::continue::
  end
  return kept, total
end
for r = 1, 5 do
  local kept, total = build(20000)
  for _, g in ipairs(kept) do total = (total * 31 + g()) % 1000003 end
  print(#kept, total)
end
