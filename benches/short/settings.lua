-- Reads a configuration file, line by line, and checks it.
local lines = {}
for i = 1, 6000 do
    if i % 10 == 0 then
        lines[#lines + 1] = "[section" .. i / 10 .. "]"
    elseif i % 7 == 0 then
        lines[#lines + 1] = "# a remark"
    else
        lines[#lines + 1] = string.format("key%d = %s", i, i % 3 == 0 and '"text ' .. i .. '"' or i * 3)
    end
end
local text = table.concat(lines, "\n")

local settings, section, number_of_keys, sum = {}, {}, 0, 0
settings.main = section
for line in text:gmatch("[^\n]+") do
    local title = line:match("^%[(.-)%]$")
    if title then
        section = {}
        settings[title] = section
    elseif not line:match("^%s*#") then
        local key, value = line:match("^(%w+)%s*=%s*(.+)$")
        if not key then
            error("cannot read " .. line)
        end
        section[key] = tonumber(value) or value:match('^"(.*)"$')
        number_of_keys = number_of_keys + 1
        if type(section[key]) == "number" then
            sum = sum + section[key]
        end
    end
end
print(number_of_keys, sum)
