-- Code is switched off and on, for all and for functions.
local jit = require "jit"
assert(jit == package.loaded.jit and rawget(_G, "jit") == nil)

local function traces()
  local compile = jit.stats().compile
  return compile and compile.traces or 0
end
local function sum(n)
  local s = 0
  for i = 1, n do s = s + i end
  return s
end
local function run(f)
  local before = traces()
  for _ = 1, 40 do assert(f(200) == 20100) end
  return traces() - before
end

local is_on = jit.status()
jit.off()
assert(not jit.status() and run(sum) == 0)
jit.on()
assert(jit.status() == is_on)

jit.off(sum)
local function calls() local s = 0 for i = 1, 300 do s = s + sum(3) end return s end
jit.off(calls)
assert(run(sum) == 0 and calls() == 1800)
assert(not jit.util.funcinfo(sum).on)
jit.on(sum)
local made = 0
-- By usual settings code has to be worth its price first.
for _ = 1, 50000 do made = made + run(sum) if made > 0 or not is_on then break end end
assert(made > 0 == is_on and jit.util.funcinfo(sum).on)

-- Functions in a function: both, or the inner ones only.
local function outer()
  return function() return 1 end
end
jit.off(outer, false)
assert(jit.util.funcinfo(outer).on and not jit.util.funcinfo(outer()).on)
jit.off(outer, true)
assert(not jit.util.funcinfo(outer).on and not jit.util.funcinfo(outer()).on)
jit.on(outer, true)
assert(jit.util.funcinfo(outer).on and jit.util.funcinfo(outer()).on)
local function itself()
  jit.off(true)
  return jit.util.funcinfo(itself)
end
itself()
assert(not jit.util.funcinfo(itself).on)

-- In the midst of a loop that runs as code, and of a recording.
local s = 0
for i = 1, 4000 do
  s = s + i
  if i == 2000 then jit.off() elseif i == 3000 then jit.on() end
end
assert(s == 8002000)

for _, wrong in ipairs { print, 1, "f", {} } do
  assert(not pcall(jit.off, wrong) and not pcall(jit.flush, wrong))
end
assert(not pcall(jit.off, sum, 1))
jit.opt.start("threshold=5", "hotexit=2", "-fold", "+fold")
if is_on then
  for _, wrong in ipairs { "threshold=0", "threshold=x", "speed=1", "-nonsense", "fold" } do
    assert(not pcall(jit.opt.start, wrong), wrong)
  end
  local trace = jit.util.traceinfo(jit.stats().traces[1].number)
  assert(trace.title:find("switching.lua:", 1, true), trace.title)
end
assert(jit.util.traceinfo(1 << 40) == nil)
assert(jit.version:match("^Tracelift (%d+)%.(%d+)%.(%d+)$"))
assert(type(jit.version_num) == "number" and jit.os ~= "" and jit.arch ~= "")
local info = jit.util.funcinfo(sum)
assert(info.params == 1 and not info.isvararg and info.linedefined == 9 and info.bytecodes > 3)
assert(info.loc == "switching.lua:9" and jit.util.funcinfo(print).bytecodes == nil)
print("switched")
