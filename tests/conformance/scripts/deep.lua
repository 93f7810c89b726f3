-- An error under many calls: the traceback leaves some out.
local function down(n)
  if n == 0 then error("at the bottom") end
  local result = down(n - 1)
  return result + 1
end
down(100)
