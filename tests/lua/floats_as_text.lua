-- Floats as text: of all sizes, near to powers of ten, near to halves of the last place that is written, whole
-- ones, zeros, and what has no digits; by tostring, by joining, and by formats with few places and many.
local forms = { "%.2f", "%f", "%.0f", "%.14f", "%.15f", "%8.3f|", "%-8.3f|", "%+.1f", "%08.2f", "%g", "%.3g", "%.14g",
    "%.17g", "%10.5g|", "%#.3g", "%.1g", "%.0g", "%e", "%.f" }
local values = {
    0.0, -0.0, 1 / 0, -1 / 0, 1e-5, 1e-4, 9.9999999999999e-5, 0.1, 0.01, 0.001, 0.2, 0.3, 1 / 3, 2 / 3, 0.5, 1.5, 2.5,
    0.125, 0.375, 1e13, 1e14, 1e15, 99999999999999.5, 9999999999999.95, 99999999999999, 123456789012345, 2.5e-4, 1e100,
    -1.5, -0.001, -0.004, 2.675, 1.005, 1e-310, 5e-324, 1.7976931348623157e308, 0.99999999999999, 0.999999999999999,
    9.99999999999995, 9.999999999999949, 2 ^ 53, 2 ^ 63, 123.456, 100.0, 1000000.0, 0.0625, 4503599627370497.5,
}
for power = -6, 15 do
    for _, factor in ipairs { 1, 1 - 2 ^ -53, 1 + 2 ^ -52, 1.5, 5, 9.5, 9.9999999999999, 9.99999999999995 } do
        values[#values + 1] = factor * 10.0 ^ power
    end
end

local function write(value)
    local texts = { tostring(value), value .. "" }
    for i, form in ipairs(forms) do
        texts[i + 2] = form:format(value)
    end
    return table.concat(texts, " ")
end

for round = 1, 3 do
    for _, value in ipairs(values) do
        local text = write(value)
        if round == 3 then print(text) end
    end
end
print(#write(0 / 0) > 0, (0 / 0) ~= (0 / 0))

-- Many more, of which only a sum is shown.
local state, sum = 12345, 0
local function random()
    state = (state * 6364136223846793005 + 1442695040888963407)
    return (state >> 11) / 2 ^ 53
end
local function add(text)
    for i = 1, #text do sum = (sum * 31 + text:byte(i)) % 4294967291 end
end
for i = 1, 4000 do
    local value = (random() - 0.5) * 10.0 ^ (i % 20 - 5)
    if i % 3 == 0 then value = math.floor(value * 1000 + 0.5) / 1000 end
    if i % 7 == 0 then value = math.floor(value * 1000) / 1000 + 0.0005 end
    add(tostring(value))
    add(("%.2f %.3f %g %.10g"):format(value, value, value, value))
    add("<" .. value .. ">")
end
print(sum)
