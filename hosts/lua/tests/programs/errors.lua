-- Errors with positions and names of variables, pcall, xpcall, error objects, nested handlers.
local record = { inner = {} }
local function fail(kind, n)
  local text, none = "text", nil
  if kind == 1 then return record.missing.field
  elseif kind == 2 then return none + n
  elseif kind == 3 then return text .. record
  elseif kind == 4 then record.inner.call(n)
  elseif kind == 5 then return #n
  elseif kind == 6 then error("plain " .. n)
  elseif kind == 7 then error({ number = n })
  elseif kind == 8 then return n < text
  elseif kind == 9 then return text:nothing()
  elseif kind == 10 then undefined_function(n)
  elseif kind == 11 then return 1 & 1.5
  elseif kind == 12 then return n // 0
  elseif kind == 13 then for i = 1, "x" do print(i) end
  elseif kind == 14 then error()
  elseif kind == 15 then return string.rep(nil)
  elseif kind == 16 then record[nil] = n
  end
  return n
end
for round = 1, 3 do
  for kind = 1, 17 do
    local before = kind * round
    local ok, message = pcall(fail, kind, round)
    if type(message) == "table" then message = message.number end
    if round ~= 2 then print(kind, ok, message, before) end
  end
end
local depth = 0
local function handler(message) depth = depth + 1; return "handled " .. tostring(message) end
for i = 1, 20 do
  local ok, message = xpcall(function(a)
    local total = 0
    for j = 1, a do
      total = total + j
      if total > 50 then error(total, 0) end
    end
    return total
  end, handler, i)
  io.write(tostring(ok), " ", message, "; ")
end
print(depth)
local function nested(n)
  local ok, message = pcall(function()
    if n == 0 then error("bottom", 0) end
    local inner = nested(n - 1)
    error(inner .. n, 0)
  end)
  return message
end
for i = 1, 6 do print(nested(i)) end
local function deep(n) return 1 + deep(n + 1) end
local ok, message = pcall(deep, 1)
print(ok, message:match("stack overflow"))
print(select(2, pcall(error)))
print(xpcall(function() local t = setmetatable({}, { __index = function(_, k) error("no " .. k) end }) for i = 1, 5 do local _ = i end return t.key end, function(m) return (debug.traceback(m, 1):gsub("\n.*", "")) end))
