-- Tables with __newindex: present elements are written, absent ones go to the metamethod.
local log = {}
local a = {}
for i = 1, 20 do a[i] = i end
setmetatable(a, { __newindex = function(t, k, v) log[#log + 1] = k; rawset(t, k, v) end })
for i = 1, 20 do a[i] = a[i] + 1 end
print(#log, a[1], a[20])
for i = 5, 15 do a[i] = nil end
for i = 1, 20 do a[i] = i * 3 end
print(#log, table.concat(log, " "))
for i = 1, 25 do a[i] = i end
print(#log, log[#log], a[25])
local proxy = setmetatable({}, { __newindex = a, __index = a })
for i = 1, 25 do proxy[i] = proxy[i] + 100 end
print(rawlen(proxy), a[1], a[25])
