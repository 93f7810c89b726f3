// Closures that are made in loops, share variables, outlive them, and are called in the same iteration.
var kept = []
var sum = 0
for (i in 0...300) {
  var local = i * 2
  var bump = Fn.new {|by|
    local = local + by
    return local + i
  }
  sum = sum + bump.call(1) + bump.call(2)
  local = local + 100
  sum = sum + bump.call(0)
  if (i % 60 == 0) kept.add(bump)
}
for (f in kept) sum = sum + f.call(1000) + f.call(1)
System.print(sum)
class Counter {
  static make(start) {
    var n = start
    return [Fn.new { n = n + 1 }, Fn.new { n }]
  }
  static each(list, f) {
    for (item in list) f.call(item)
  }
  static total(list) {
    var t = 0
    each(list) {|x| t = t + x }
    return t
  }
}
var totals = 0
for (i in 0...200) {
  var pair = Counter.make(i)
  pair[0].call()
  pair[0].call()
  totals = totals + pair[1].call()
}
System.print(totals)
for (i in 0...120) totals = totals + Counter.total([i, 1, 2]) + Counter.total([i])
System.print(totals)
var words = ["a", "bb", "ccc"]
var length = 0
for (i in 0...100) length = length + words.map {|w| w.count * i }.reduce {|a, b| a + b }
System.print(length)
var compose = Fn.new {|f, g| Fn.new {|x| f.call(g.call(x)) } }
var value = 0
for (i in 0...150) {
  var add = compose.call(Fn.new {|x| x + i }, Fn.new {|x| x * 2 })
  value = add.call(value % 1000)
}
System.print(value)
var fns = []
var k = 0
while (k < 100) {
  var mine = k
  fns.add(Fn.new {
    mine = mine + 1
    return Fn.new { mine }
  })
  k = k + 1
}
var nested = 0
for (f in fns) {
  f.call()
  nested = nested + f.call().call()
}
System.print(nested)
var fiber = Fiber.new {
  var n = 0
  for (i in 0...80) {
    var m = i
    var f = Fn.new { m / (i < 70 ? 1 : "x") }
    n = n + f.call()
    Fiber.yield(n)
  }
}
var last
while (!fiber.isDone) last = fiber.try()
System.print(last)
