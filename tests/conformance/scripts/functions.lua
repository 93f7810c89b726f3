-- Calls each function of the libraries in a loop, and tells what it gave last; rows come from functions.txt.
-- Then the names of all functions that there are.
local function show(value)
  if type(value) == "string" then return string.format("%q", value):gsub("\n", "n") .. "" end
  if type(value) == "table" then
    local parts = {}
    for i = 1, #value do parts[i] = show(value[i]) end
    local keys = {}
    for key in pairs(value) do
      if type(key) == "string" then keys[#keys + 1] = key end
    end
    table.sort(keys)
    for _, key in ipairs(keys) do parts[#parts + 1] = key .. " = " .. show(value[key]) end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  if math.type(value) or value == nil or type(value) == "boolean" then return tostring(value) end
  return "a " .. type(value)
end

local function rounds(text)
  local body = "local n, pack = ... local r for i = 1, n do r = pack(" .. text .. ") end return r"
  local chunk = load(body, "=row", "t")
    or assert(load("local n, pack = ... local r for i = 1, n do " .. text .. " end return r", "=row", "t"))
  local fine, result = pcall(chunk, 60, table.pack)
  if not fine then return "error: " .. show(result) end
  local parts = {}
  for i = 1, result.n do parts[i] = show(result[i]) end
  return table.concat(parts, ", ")
end

for line in io.lines("functions.txt") do
  local name, text = line:match("^(%S+)%s+(.+)$")
  if name then print("row", name, text, rounds(text)) end
end

local names = {}
for name, value in pairs(_G) do
  if type(value) == "function" then names[#names + 1] = name end
  if type(value) == "table" and name ~= "_G" and name ~= "arg" then
    for inner, member in pairs(value) do
      if type(member) == "function" then names[#names + 1] = name .. "." .. inner end
    end
  end
end
for name in pairs(getmetatable(io.stdout).__index) do names[#names + 1] = "file:" .. name end
table.sort(names)
print("names", table.concat(names, " "))
