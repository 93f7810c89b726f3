-- debug.upvaluejoin and setupvalue change what a closure refers to, between two runs of its compiled loop.
local function counter(n)
  return function(times) for i = 1, times do n = n + 1 end return n end
end
local a, b = counter(0), counter(1000)
print(a(10), b(10))
debug.upvaluejoin(a, 1, b, 1)
print(a(10), b(10))
debug.setupvalue(b, 1, 0.5)
print(a(10), b(10))
debug.setupvalue(b, 1, "7")
print(pcall(a, 3))
debug.setupvalue(b, 1, {})
print(pcall(a, 3))
