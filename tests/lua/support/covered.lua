-- Writes down which opcodes and which functions of the library a program uses, as it runs: LUA_INIT=@covered.lua.
--
-- Problem: a corpus must not leave anything out unnoticed, and the text of a program tells little about what it runs.
-- Design: the opcodes are those in the binary form of the program and of what it loads while it runs. A library function
-- counts when one line has called it ten times, as a loop does. What is found is written at once to the file named by
-- TRACELIFT_COVERED, as 'op ADDI' or 'call math.floor', since a program may end in many ways. What there is to be found is
-- written as 'want op ADDI', 'want call math.floor'; of the functions only those of 'math'.
-- Invariant: the program runs as usual, except that its hooks replace the one set here, and that 'load' is another function.
-- Example: "LUA_INIT=@support/covered.lua TRACELIFT_COVERED=/dev/stdout lua sort.lua".
local opcodes = {}
for name in ([[MOVE LOADI LOADF LOADK LOADKX LOADFALSE LFALSESKIP LOADTRUE LOADNIL GETUPVAL SETUPVAL GETTABUP GETTABLE
  GETI GETFIELD SETTABUP SETTABLE SETI SETFIELD NEWTABLE SELF ADDI ADDK SUBK MULK MODK POWK DIVK IDIVK BANDK BORK BXORK
  SHRI SHLI ADD SUB MUL MOD POW DIV IDIV BAND BOR BXOR SHL SHR MMBIN MMBINI MMBINK UNM BNOT NOT LEN CONCAT CLOSE TBC JMP
  EQ LT LE EQK EQI LTI LEI GTI GEI TEST TESTSET CALL TAILCALL RETURN RETURN0 RETURN1 FORLOOP FORPREP TFORPREP TFORCALL
  TFORLOOP SETLIST CLOSURE VARARG VARARGPREP EXTRAARG]]):gmatch("%u+%d?") do
  opcodes[#opcodes + 1] = name
end

local list = assert(io.open(os.getenv("TRACELIFT_COVERED"), "w"))
list:setvbuf("line")
local written = {}
local function write(line)
  if not written[line] then
    written[line] = true
    list:write(line, "\n")
  end
end

-- The binary form of a function, as 'ldump.c' of Lua 5.4 writes it.
local function walk(chunk)
  local at = 1
  local function byte() at = at + 1; return chunk:byte(at - 1) end
  local function skip(n) at = at + n end
  local function size()
    local n = 0
    repeat
      local b = byte()
      n = n << 7 | b & 0x7f
    until b >= 0x80
    return n
  end
  local function text() local n = size(); if n > 0 then skip(n - 1) end end
  local constants = {
    [0x00] = function() end, [0x01] = function() end, [0x11] = function() end,
    [0x03] = function() skip(8) end, [0x13] = function() skip(8) end, [0x04] = text, [0x14] = text
  }
  local function prototype()
    text()
    size() size()
    skip(3)
    for _ = 1, size() do
      local instruction
      instruction, at = string.unpack("<I4", chunk, at)
      write("op " .. opcodes[(instruction & 0x7f) + 1])
    end
    for _ = 1, size() do constants[byte()]() end
    skip(3 * size())
    for _ = 1, size() do prototype() end
    skip(size())
    for _ = 1, size() do size() size() end
    for _ = 1, size() do text() size() size() end
    for _ = 1, size() do text() end
  end
  assert(chunk:sub(1, 6) == "\27Lua\x54\0", "not the binary form of Lua 5.4")
  skip(4 + 2 + 6 + 3 + 8 + 8)
  skip(1)
  prototype()
  assert(at == #chunk + 1, "the binary form was misread")
end

local dump = string.dump
local stock_load = load
walk(dump(assert(loadfile(arg[0]))))
function load(...)
  local chunk, message = stock_load(...)
  if chunk then
    walk(dump(chunk))
    return chunk
  end
  return chunk, message
end

local names = {}
for library, prefix in pairs { [_G] = "", [math] = "math.", [string] = "string.", [table] = "table." } do
  for name, value in pairs(library) do
    name = prefix .. name
    -- A function with two names has the first of them.
    if type(value) == "function" and name < (names[value] or "~") then names[value] = name end
  end
end
for _, name in ipairs(opcodes) do write("want op " .. name) end
for _, value in pairs(math) do
  if type(value) == "function" then write("want call " .. names[value]) end
end

local sites = {}
local getinfo = debug.getinfo
local function called()
  local name = names[getinfo(2, "f").func]
  local caller = name and not written["call " .. name] and getinfo(3, "l")
  if not caller then return end
  local site = name .. caller.currentline
  sites[site] = (sites[site] or 0) + 1
  if sites[site] == 10 then write("call " .. name) end
end
debug.sethook(called, "c")
