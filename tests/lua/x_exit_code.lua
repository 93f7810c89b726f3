-- os.exit from inside a hot loop, with the state closed: buffers are flushed and finalizers run.
local keep = setmetatable({}, { __gc = function() print("closed") end })
local s = 0
for i = 1, 200 do
  s = s + i
  if i % 50 == 0 then io.write(s, "\n") end
  if i == 150 then os.exit(true, true) end
end
print("never")
