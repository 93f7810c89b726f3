-- Float loops whose error adds up, infinities, steps too small to move, negative zero, sums in another order.
local n, s = 0, 0
for x = 0, 10, 0.1 do n = n + 1; s = s + x end
print(n, string.format("%.17g", s))
n = 0
for x = 1, 0, -0.01 do n = n + 1 end
print(n)
n = 0
for x = 1.0, 0.0, -0.015625 do n = n + 1 end
print(n)
local x, steps = 1e16, 0
for y = 1e16, 1e16 + 100, 1 do steps = steps + 1; x = y; if steps >= 80 then break end end
print(steps, x)
n = 0
for y = 0, math.huge, 1e307 do n = n + 1; if y > 1e308 and n > 60 then break end if n > 90 then break end end
print(n)
for z = -0.0, 0.0, 1.0 do print(z, 1 / z) end
local h = 0.0
for i = 1, 100 do h = h + 1.0 / i end
local g = 0.0
for i = 100, 1, -1 do g = g + 1.0 / i end
print(string.format("%.17g %.17g", h, g), h == g)
local kahan, carry = 0.0, 0.0
for i = 1, 200 do
  local y = 0.1 - carry
  local t = kahan + y
  carry = (t - kahan) - y
  kahan = t
end
print(string.format("%.17g %.17g", kahan, carry))
local logistic = 0.3
for i = 1, 200 do logistic = 3.99 * logistic * (1 - logistic) end
print(string.format("%.17g", logistic))
local nan, nans = 0 / 0, 0
for i = 1, 100 do
  local v = i % 10 == 0 and nan or i * 1.0
  if v ~= v then nans = nans + 1 end
  if v < 50 then nans = nans + 100 end
  if not (v >= 50) then nans = nans + 10000 end
end
print(nans)
print(pcall(function() for y = 1, 2, 0.0 do end end))
print(pcall(function() for y = 0 / 0, 2 do print "never" end return "none" end))
