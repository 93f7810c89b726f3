-- A command line's parser, made anew each time, with its help.
local argparse = require("argparse")
local sum = 0
for i = 1, 120 do
  local parser = argparse("prog", "Does what its arguments say.")
  parser:argument("input", "Files to read."):args("+")
  parser:option("-o --output", "File to write."):default("a.out")
  parser:option("-I --include", "Folders to look in."):count("*")
  parser:flag("-v --verbose", "Tell more."):count("0-3")
  parser:command("install", "Put it there."):option("-f --from")
  parser:require_command(false)
  local ok, found = parser:pparse({ "foo", "bar" .. i, "-vvv", "-Isrc", "--include=lib", "-o", "x" .. i })
  sum = sum + (ok and #found.input + found.verbose + #found.output or 1000) + #parser:get_help()
  if i % 10 == 0 then print(parser:pparse({ "foo", "--unknown" .. i })) end
end
print(sum)
