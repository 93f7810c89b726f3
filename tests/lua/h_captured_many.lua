-- More captured variables than a trace would like, in nested functions, all changed by calls.
local function names(prefix, n)
  local t = {}
  for i = 1, n do t[i] = prefix .. i end
  return t
end
local function build(n, depth)
  local lines = { "local apply = ... local f0 = function(x) return x end" }
  for d = 1, depth do
    local vars = names("v" .. d .. "_", n)
    local inc, sum = {}, {}
    for i = 1, n do
      inc[i] = vars[i] .. " = " .. vars[i] .. " + " .. i
      sum[i] = vars[i]
    end
    lines[#lines + 1] = "local function f" .. d .. "(x)"
    for i = 1, n do lines[#lines + 1] = "local " .. vars[i] .. " = x" end
    lines[#lines + 1] = "local function change() " .. table.concat(inc, " ") .. " end"
    lines[#lines + 1] = "apply(change) local r = f" .. d - 1 .. "(x + 1) apply(change)"
    lines[#lines + 1] = "return r + " .. table.concat(sum, " + ") .. " end"
  end
  lines[#lines + 1] = "local s = 0 for i = 1, 9 do s = s + f" .. depth .. "(i) end return s"
  return assert(load(table.concat(lines, "\n")))
end
for _, size in ipairs { { 1, 1 }, { 40, 1 }, { 180, 1 }, { 50, 3 }, { 20, 6 }, { 120, 9 } } do
  print(size[1], size[2], build(size[1], size[2])(function(f) pcall(f) end))
end
