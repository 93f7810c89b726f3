-- References stored into old tables and upvalues, with the collector at work: nothing alive may be freed.
collectgarbage("generational")
local old = {}
for i = 1, 64 do old[i] = i end
collectgarbage() collectgarbage()
local spare = {}
for i = 1, 64 do spare[i] = { i } end
for i = 1, 64 do old[i] = spare[i] end
spare = nil
collectgarbage("step")
local s = 0
for i = 1, 64 do s = s + old[i][1] end
print(s)
local kept
local function keep(list) for i = 1, #list do kept = list[i] end end
collectgarbage()
keep { {}, {}, { "kept" } }
collectgarbage("step")
print(kept[1])
collectgarbage("incremental")
local chain = { n = 0 }
for round = 1, 5 do
  local fresh = {}
  for i = 1, 50 do fresh[i] = { n = i } end
  for i = 1, 50 do old[i] = fresh[i]; chain.last = fresh[i] end
  collectgarbage("step", 1)
end
collectgarbage()
s = 0
for i = 1, 50 do s = s + old[i].n end
print(s, chain.last.n)
