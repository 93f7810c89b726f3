-- Zeros keep their sign and NaN stays NaN through compiled code; both can be seen when printed.
local z, neg = 0.0, 0.0
for i = 1, 10 do z = z * -1; neg = -z end
print(z, neg, 1 / z, 1 / neg)
local a = 0.0
for i = 1, 11 do a = -a end
print(a, 1 / a)
local b = -0.0
for i = 1, 10 do b = b + 0 end
print(b, 1 / b)
b = -0.0
for i = 1, 10 do b = b + -0.0 end
print(b, 1 / b)
b = -0.0
for i = 1, 10 do b = b * 1 end
print(b, 1 / b)
b = -0.0
for i = 1, 10 do b = b - 0 end
print(b)
b = -0.0
for i = 1, 10 do b = 0 - b end
print(b)
local c = 0
for i = 1, 10 do c = 0 // -3.0; c = c % 3.0 end
print(c)
local n = 1 / 0
for i = 1, 5 do n = n - n; n = n * 1 end
print(n ~= n)
local count = 0
for i = 1, 20 do if n == n then count = count + 1 end end
print(count)
local k = 0
for i = 1, 10 do if 0.0 == -0.0 then k = k + 1 end end
print(k)
