-- Keys that are floats: metamethods see them as they are, also where they stand for integers.
local seen = 0
local t = setmetatable({ 1, 2, 3 }, { __index = function(_, k) return k .. "" end, __newindex = function(_, k, v) seen = seen + #(k .. "") end })
local length = 0
for i = 1.0, 80 do length = length + #(t[i] .. "") end
for i = 1, 80 do length = length + #(t[i + 0.0] .. "") + #(t[i + 0.5] .. "") + #(t[i / 2] .. "") end
for i = 1, 80 do t[i + 0.0] = i t[i + 0.5] = i t[i / 4] = i end
print(length, seen)
local behind = setmetatable({}, { __index = t, __newindex = t })
for i = 1, 80 do length = length + #(behind[i + 0.0] .. "") + #(behind[i / 2] .. "") behind[i * 1.0] = i behind[i / 2] = nil end
print(length, seen, t[1], t[2.0], t[3])
-- absent ones in tables without metamethods
local plain, n = { 5, 6, [0.5] = 7 }, 0
for i = 1, 80 do n = n + (plain[i + 0.5] or 1) + (plain[i / 2] or 10) + (plain[i * 1.0] or 100) end
for i = 1, 80 do if plain[i + 0.25] == nil then plain[i + 0.25] = i end if plain[i / 4] then n = n + 1000 end end
print(n)
for i = 1, 80 do n = n + (plain[1e15 + i] or 0) + (plain[1e300 * i] or 0) + (plain[-0.0] or 1) if i == 50 then plain[0] = 3 end end
print(n)
