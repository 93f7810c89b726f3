-- A folder is filled, walked, changed, and taken away again, file by file.
local lfs = require("lfs")
local folder = "walked"
lfs.mkdir(folder)
for i = 1, 60 do
  local file = assert(io.open(folder .. "/" .. i .. ".txt", "w"))
  file:write(string.rep("x", i))
  file:close()
end
local bytes, files, kinds = 0, 0, {}
for round = 1, 40 do
  for name in lfs.dir(folder) do
    local about = lfs.attributes(folder .. "/" .. name)
    kinds[about.mode] = (kinds[about.mode] or 0) + 1
    if about.mode == "file" then bytes, files = bytes + about.size, files + 1 end
  end
end
print("walked", bytes, files, kinds.file, kinds.directory)
local missing = 0
for i = 1, 500 do
  local about, why, code = lfs.attributes(folder .. "/none" .. i)
  if about == nil and code == 2 and why then missing = missing + 1 end
end
print("missing", missing)
local modes = 0
for i = 1, 500 do modes = modes + #lfs.attributes(folder .. "/" .. (i % 60 + 1) .. ".txt", "mode") end
print("modes", modes)
-- Handles that are closed by hand, by leaving a scope, and by the collector.
for i = 1, 200 do
  local step, handle = lfs.dir(folder)
  step(handle)
  if i % 3 == 0 then handle:close() end
  if i % 3 == 1 then local closing <close> = handle end
end
collectgarbage()
for i = 1, 60 do os.remove(folder .. "/" .. i .. ".txt") end
print("gone", lfs.rmdir(folder), lfs.attributes(folder))
print(pcall(lfs.dir, "no such folder"))
