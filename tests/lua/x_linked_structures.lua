-- Lists, trees and graphs of small tables: built, walked, changed while walked, cyclic, shared, compared by identity.
local head
for i = 1, 100 do head = { v = i, next = head } end
local s, n = 0, head
while n do s = s * 3 % 65521 + n.v; n = n.next end
print(s)
local before, node, removed = nil, head, 0
while node do
  if node.v % 3 == 0 then
    if before then before.next = node.next else head = node.next end
    removed = removed + 1
  else before = node end
  node = node.next
end
local left = 0
n = head
while n do left = left + 1; n = n.next end
print(removed, left)
local root
local function insert(v)
  if not root then root = { key = v }; return end
  local at = root
  while true do
    local side = v < at.key and "left" or "right"
    if not at[side] then at[side] = { key = v }; return end
    at = at[side]
  end
end
for i = 1, 80 do insert((i * 37) % 101) end
local out = {}
local function walk(t, depth) if t then walk(t.left, depth + 1); out[#out + 1] = t.key .. "/" .. depth; walk(t.right, depth + 1) end end
walk(root, 0)
print(#out, table.concat(out, " ", 1, 12))
local ring = { id = 1 }
ring.next, ring.prev = ring, ring
for i = 2, 60 do
  local new = { id = i, prev = ring, next = ring.next }
  ring.next.prev = new
  ring.next = new
end
local survivors, at, step = 60, ring, 0
while survivors > 1 do
  step = step + 1
  if step % 3 == 0 then at.prev.next, at.next.prev = at.next, at.prev; survivors = survivors - 1 end
  at = at.next
end
print(at.id, at.next == at, at.prev == at, step)
local nodes = {}
for i = 1, 40 do nodes[i] = { id = i, edges = {} } end
for i = 1, 40 do for _, d in ipairs { 1, 7, 13 } do local e = nodes[i].edges; e[#e + 1] = nodes[(i + d - 1) % 40 + 1] end end
local queue, dist, first = { nodes[1] }, { [nodes[1]] = 0 }, 1
while queue[first] do
  local from = queue[first]
  first = first + 1
  for _, to in ipairs(from.edges) do if not dist[to] then dist[to] = dist[from] + 1; queue[#queue + 1] = to end end
end
local far = {}
for i = 1, 40 do far[i] = dist[nodes[i]] end
print(table.concat(far, " "))
local a, b, same = { x = 0 }, { x = 0 }, 0
local c = a
for i = 1, 60 do
  if i % 10 == 0 then c = c == a and b or a end
  c.x = c.x + 1
  a.x = a.x + 100
  if c == a then same = same + 1 end
end
print(a.x, b.x, same)
local parent, uf = {}, 0
for i = 1, 60 do parent[i] = i end
local function find(i) while parent[i] ~= i do parent[i] = parent[parent[i]]; i = parent[i] end return i end
for i = 1, 60 do local p, q = find(i), find((i * 7) % 60 + 1); if p ~= q then parent[p] = q; uf = uf + 1 end end
print(uf)
