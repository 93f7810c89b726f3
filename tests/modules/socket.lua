-- A server and a client in one process, both as coroutines that wait for one another; on this machine alone.
local socket = require("socket")
local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
server:settimeout(0)
local client = assert(socket.tcp())
client:settimeout(5)
assert(client:connect("127.0.0.1", port))
server:settimeout(5)
local peer = assert(server:accept())
peer:settimeout(5)

local serve = coroutine.wrap(function()
  local sum = 0
  while true do
    local line, why = peer:receive("*l")
    if not line then return "end", why, sum end
    sum = sum + #line
    peer:send(line:upper() .. "\n")
    coroutine.yield(sum)
  end
end)
local answers, bytes = 0, 0
for i = 1, 1500 do
  client:send("message " .. i .. "\n")
  serve()
  local line = assert(client:receive())
  answers = answers + tonumber(line:match("^MESSAGE (%d+)$"))
  bytes = bytes + #line
end
print("answers", answers, bytes)

-- By `select`, in pieces of other sizes than were sent.
local got = {}
client:send(string.rep("0123456789", 300))
while #got < 250 do
  local ready = socket.select({ peer }, nil, 5)
  got[#got + 1] = assert(ready[1]:receive(12))
end
print("pieces", #got, #table.concat(got), got[250])
client:close()
print(serve())
print(pcall(client.send, client, "more"))
peer:close()
server:close()
local safe = socket.protect(function(n)
  local try = socket.newtry(function() end)
  return try(n % 2 == 0 and n or nil, "odd")
end)
local odd = 0
for i = 1, 1000 do
  local value, why = safe(i)
  if value == nil and why == "odd" then odd = odd + 1 end
end
print("protected", odd)

local mime, ltn12 = require("mime"), require("ltn12")
local total = 0
for i = 1, 500 do
  local parts = {}
  ltn12.pump.all(
    ltn12.source.string("text number " .. i),
    ltn12.sink.chain(mime.encode("base64"), (ltn12.sink.table(parts)))
  )
  total = total + #table.concat(parts)
end
print("encoded", total, (mime.b64("three")), (mime.unb64("dGhyZWU=")))
