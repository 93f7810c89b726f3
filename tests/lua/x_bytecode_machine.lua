-- An interpreter in Lua: a loop whose path depends on data, with jumps, a stack, calls and a table of handlers.
local function run(code, trace)
  local stack, sp, pc, calls, steps = {}, 0, 1, {}, 0
  while true do
    local op, arg = code[pc], code[pc + 1]
    pc = pc + 2
    steps = steps + 1
    if op == "push" then sp = sp + 1; stack[sp] = arg
    elseif op == "add" then sp = sp - 1; stack[sp] = stack[sp] + stack[sp + 1]
    elseif op == "mul" then sp = sp - 1; stack[sp] = stack[sp] * stack[sp + 1]
    elseif op == "dup" then sp = sp + 1; stack[sp] = stack[sp - 1 - arg]
    elseif op == "set" then stack[arg] = stack[sp]; sp = sp - 1
    elseif op == "less" then sp = sp - 1; stack[sp] = stack[sp] < stack[sp + 1]
    elseif op == "jump" then pc = arg
    elseif op == "unless" then if not stack[sp] then pc = arg end sp = sp - 1
    elseif op == "call" then calls[#calls + 1] = pc; pc = arg
    elseif op == "return" then pc = table.remove(calls)
    elseif op == "halt" then return stack[sp], steps, sp
    else error("bad code " .. tostring(op) .. " at " .. pc - 2) end
  end
end
-- sum of i * i for i below 60
local program = {
  "push", 0, "push", 0,              -- 1: sum, i
  "dup", 0, "push", 60, "less", 0,   -- 5
  "unless", 31,                      -- 11
  "dup", 0, "dup", 1, "mul", 0,      -- 13
  "dup", 2, "add", 0, "set", 1,      -- 19
  "push", 1, "add", 0,               -- 25
  "jump", 5,                         -- 29
  "dup", 1, "halt", 0,               -- 31
}
print(run(program))
program[8] = 30.5
print(run(program))
print(pcall(run, { "push", 1, "push", {}, "add", 0 }))
print(pcall(run, { "push", 1, "jump", 5, "push", 2, "nope", 0 }))
local handlers = {
  inc = function(vm, n) vm.acc = vm.acc + n end,
  dbl = function(vm) vm.acc = vm.acc * 2 % 10007 end,
  jnz = function(vm, to) vm.left = vm.left - 1; if vm.left > 0 then vm.pc = to end end,
  log = function(vm) if vm.acc % 100 == 7 then vm.out = vm.out .. vm.acc .. " " end end,
}
local function dispatch(code, rounds)
  local vm = { acc = 1, left = rounds, pc = 1, out = "" }
  while vm.pc <= #code do
    local i = code[vm.pc]
    vm.pc = vm.pc + 1
    handlers[i.op](vm, i.arg)
  end
  return vm.acc, vm.out
end
local code = { { op = "inc", arg = 3 }, { op = "dbl" }, { op = "log" }, { op = "jnz", arg = 1 } }
print(dispatch(code, 90))
code[1].arg = 0.5
print(dispatch(code, 70))
handlers.log = nil
print(pcall(dispatch, code, 3))
local function tokens(text)
  local list, i = {}, 1
  while i <= #text do
    local c = text:sub(i, i)
    if c:find("%d") then local d = text:match("^%d+", i); list[#list + 1] = tonumber(d); i = i + #d
    else if c ~= " " then list[#list + 1] = c end i = i + 1 end
  end
  return list
end
local function evaluate(text)
  local list, at = tokens(text), 1
  local expression
  local function factor()
    local t = list[at]; at = at + 1
    if t == "(" then local v = expression(); at = at + 1; return v end
    if t == "-" then return -factor() end
    return t
  end
  local function term()
    local v = factor()
    while list[at] == "*" or list[at] == "/" do
      local op = list[at]; at = at + 1
      local r = factor()
      if op == "*" then v = v * r else v = v / r end
    end
    return v
  end
  function expression()
    local v = term()
    while list[at] == "+" or list[at] == "-" do
      local op = list[at]; at = at + 1
      local r = term()
      if op == "+" then v = v + r else v = v - r end
    end
    return v
  end
  return expression()
end
local sum = 0
for i = 1, 40 do sum = sum + evaluate("(" .. i .. " + 2) * -3 - 10 / (4 - " .. i % 3 .. ")") end
print(sum)
