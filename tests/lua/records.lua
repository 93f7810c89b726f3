-- A record made in each iteration; the last one is kept across the back edge and looked at behind the loop.
local function ended(n)
  local p
  for i = 1, n do p = { x = i, y = i * 2 } end
  return p
end
local function left(n)
  local p, q = { x = 0, y = 0 }
  for i = 1, n do
    q = p
    p = { x = i, y = p.x + p.y }
    if p.y > 200 then break end
  end
  return p, q
end
local function failed(n)
  local p = { x = 0 }
  local ok, message = pcall(function()
    local values = { 1, 2, 3, 4, 5, 6, 7, 8, 9, {} }
    for i = 1, n do
      local r = { x = values[i], y = i }
      r.x = r.x + p.x
      p.x = r.x
    end
  end)
  return p.x, ok, message
end
local p, q = ended(50)
print(p.x, p.y, q)
p, q = left(60)
print(p.x, p.y, q.x, q.y, p == q)
print(failed(10))
local same, other = 0, 0
local last = { n = 0 }
for i = 1, 40 do
  local new = { n = i, back = last }
  if new == new and new.back == last then same = same + 1 end
  if new == last or last == new.back.back then other = other + 1 end
  if i % 7 == 0 then last = new end
end
print(same, other, last.n, last.back.n, last.back.back.back.n)
