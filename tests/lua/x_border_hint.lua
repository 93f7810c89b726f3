-- '#' of arrays with holes depends on a hint that searches beyond it move: absent elements read and written in hot loops.
local function f(n, way)
  local t = {}
  for i = 1, n do t[i] = i end
  local a, s = #t, 0
  if way == 1 then for k = 30, 1, -2 do t[k + 0.0] = nil end end
  if way == 2 then for k = 30, 1, -2 do t[k] = nil end end
  if way == 3 then for k = 30, 1, -2 do s = s + (t[k + 0.0] or 0) end end
  if way == 4 then for k = 30, 1, -2 do s = s + (t[k] or 0) end end
  if way == 5 then for k = 1, 30 do s = s + (t[k] or #t) end end
  local b = #t
  t[n] = nil; t[n - 1] = nil; t[n - 3] = nil
  return way, n, a, b, s, #t
end
for way = 1, 5 do for n = 10, 13 do print(f(n, way)) end end
