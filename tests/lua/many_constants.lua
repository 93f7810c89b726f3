-- More constants than an instruction can name: the loops of such a function load theirs with LOADKX.
local template = {}
for i = 0, 364 do template[#template + 1] = ("@%03d.5"):format(i) end
template = table.concat(template, ",")
local list = {}
for i = 1, 362 do list[i] = template:gsub("@", i) end
-- The constants of a function are numbered as they appear, so that those of the second loop are behind all of the list.
print(load([[
local t, n = {...}, 0
for i = 1, 120 do
  n = n + t[1] + (i % 2 == 0 and 1000000.5 or 2000000.25)
  if i % 50 == 0 then t[#t + 1] = 'late ' .. i end
end
if #t > 100 then t = {]] .. table.concat(list, ",") .. [[} end
local name, words, m = "far away", 0, 0
for i = 1, 120 do
  local s = i % 3 == 0 and "constant number one" or "constant number two"
  words = words + #s
  m = m + 3000000.125 + (i % 4 == 0 and 4000000.0625 or -5000000.5)
  if s == "constant number " .. "one" then name = "another"
  elseif i > 100 then t.field_far_away = (t.field_far_away or 7000000.5) + 1
  end
end
return n, #t, words, m, name, t.field_far_away
]], "=many")(1))
