// Fibers that yield in loops, errors that unwind through them, and loops that are entered in many fibers.
var generate = Fn.new {|n|
  return Fiber.new {
    for (i in 0...n) Fiber.yield(i * i)
  }
}
var sum = 0
for (round in 0...5) {
  var fiber = generate.call(60)
  while (true) {
    var value = fiber.call()
    if (fiber.isDone) break
    sum = sum + value
  }
}
System.print(sum)
var work = Fn.new {|n|
  var s = 0
  for (i in 0...n) s = s + i
  return s
}
var results = []
for (i in 0...30) {
  var fiber = Fiber.new { work.call(i * 10) }
  results.add(fiber.call())
}
System.print(results)
var errors = 0
for (i in 0...60) {
  var fiber = Fiber.new {
    var s = 0
    for (k in 0...100) {
      if (k == 90 && i % 2 == 0) Fiber.abort("stop %(i)")
      if (k == 95) s.noSuchMethod
      s = s + k
    }
  }
  var error = fiber.try()
  if (error) errors = errors + error.count
  if (i > 57) System.print(error)
}
System.print(errors)
var a = Fiber.new {
  for (i in 0...100) Fiber.yield(i)
}
var b = Fiber.new {
  for (i in 0...100) Fiber.yield(a.call() * 2)
}
var both = 0
for (i in 0...100) both = both + b.call()
System.print(both)
