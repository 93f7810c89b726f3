-- goto as continue, as break out of two loops, backwards, and over closures of the body.
local s, skipped = 0, 0
for i = 1, 100 do
  if i % 3 == 0 then skipped = skipped + 1; goto continue end
  for j = 1, 5 do
    if j == i % 5 then goto next_j end
    if i * j == 340 then goto out end
    s = s + i * j
    ::next_j::
  end
  ::continue::
end
::out::
print(s, skipped)
do
  local i, n = 0, 0
  ::again::
  i = i + 1
  if i % 2 == 0 then n = n + i else n = n - 1 end
  if i < 100 then goto again end
  print(i, n)
end
local fs = {}
do
  local i = 1
  ::top::
  local v = i * i
  fs[#fs + 1] = function() v = v + 1; return v end
  i = i + 1
  if i <= 60 then goto top end
end
local t = 0
for i = 1, #fs do t = t + fs[i]() - fs[i]() + fs[i]() end
print(t, fs[1](), fs[60]())
local state, path = "a", {}
for i = 1, 90 do
  if state == "a" then goto a elseif state == "b" then goto b else goto c end
  ::a:: path[#path + 1] = "a"; state = i % 7 == 0 and "c" or "b"; goto done
  ::b:: path[#path + 1] = "b"; state = "c"; goto done
  ::c:: path[#path + 1] = "c"; state = "a"
  ::done::
end
print(table.concat(path))
local k = 0
repeat
  local stop = k > 50
  k = k + 1
  if k % 4 == 0 then goto cont end
  k = k + 1
  ::cont::
until k > 80
print(k)
