-- Tables as queue, stack, set, ring buffer, deque and priority queue.
local first, last, q, out = 1, 0, {}, 0
for i = 1, 150 do
  last = last + 1; q[last] = i * i
  if i % 3 ~= 0 then out = out + q[first]; q[first] = nil; first = first + 1 end
end
print(first, last, out, last - first + 1)
while first <= last do out = out + q[first]; q[first] = nil; first = first + 1 end
print(out, next(q))
local stack, trace = {}, 0
for i = 1, 200 do
  if i % 5 == 4 and #stack > 0 then trace = trace + table.remove(stack) else stack[#stack + 1] = i end
  if i % 7 == 0 then stack[#stack] = nil end
end
print(#stack, trace, stack[#stack])
local set, size = {}, 0
for i = 1, 200 do
  local k = (i * 37) % 50
  if set[k] then set[k] = nil; size = size - 1 else set[k] = true; size = size + 1 end
end
local members = {}
for k in pairs(set) do members[#members + 1] = k end
table.sort(members)
print(size, #members, table.concat(members, " "))
local ring, head = {}, 0
for i = 0, 7 do ring[i] = 0 end
for i = 1, 100 do head = (head + 1) & 7; ring[head] = ring[head] + i end
print(table.concat(ring, " ", 0, 7))
local d, lo, hi = {}, 0, -1
for i = 1, 100 do
  if i % 2 == 0 then lo = lo - 1; d[lo] = i else hi = hi + 1; d[hi] = -i end
  if i % 11 == 0 then d[lo] = nil; lo = lo + 1 end
end
local sum = 0
for i = lo, hi do sum = sum * 3 % 1000003 + d[i] end
print(lo, hi, sum)
local heap, n = {}, 0
local function push(v)
  n = n + 1; heap[n] = v
  local i = n
  while i > 1 and heap[i // 2] > heap[i] do heap[i], heap[i // 2] = heap[i // 2], heap[i]; i = i // 2 end
end
local function pop()
  local top = heap[1]
  heap[1], heap[n] = heap[n], nil
  n = n - 1
  local i = 1
  while true do
    local s = i
    if 2 * i <= n and heap[2 * i] < heap[s] then s = 2 * i end
    if 2 * i + 1 <= n and heap[2 * i + 1] < heap[s] then s = 2 * i + 1 end
    if s == i then return top end
    heap[i], heap[s] = heap[s], heap[i]
    i = s
  end
end
for i = 1, 60 do push((i * 7919) % 101) end
local line = {}
while n > 0 do line[#line + 1] = pop() end
print(table.concat(line, " "))
