// Functions, closures, variables of outer functions, recursion, and loops in callees.
var add = Fn.new {|a, b| a + b }
var sum = 0
for (i in 0...300) sum = add.call(sum, i)
System.print(sum)
var count = 0
var next = Fn.new { count = count + 1 }
for (i in 0...100) next.call()
System.print(count)
var outer = Fn.new {
  var local = 0
  var bump = Fn.new {|by| local = local + by }
  for (i in 0...150) {
    bump.call(i)
    if (i % 50 == 0) System.print(local)
  }
  return bump
}
var bump = outer.call()
System.print(bump.call(0))
for (i in 0...100) bump.call(1)
System.print(bump.call(0))
var fns = []
for (i in 0...10) fns.add(Fn.new { i * 10 })
var all = 0
for (round in 0...20) for (f in fns) all = all + f.call()
System.print(all)
var total = 0
(1..100).each {|x| total = total + x }
System.print(total)
System.print((1..50).map {|x| x * x }.where {|x| x % 2 == 0 }.reduce(0) {|a, b| a + b })
class Math {
  static fib(n) { n < 2 ? n : fib(n - 1) + fib(n - 2) }
  static ack(m, n) {
    if (m == 0) return n + 1
    if (n == 0) return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))
  }
  static isEven(n) { n == 0 ? true : isOdd(n - 1) }
  static isOdd(n) { n == 0 ? false : isEven(n - 1) }
  static inner(n) {
    var s = 0
    for (i in 0...n) {
      if (i * i > n) return s
      s = s + i
    }
    return -1
  }
}
System.print(Math.fib(20))
System.print(Math.ack(2, 9))
System.print(Math.isEven(301))
var inner = 0
for (i in 0...200) inner = inner + Math.inner(i)
System.print(inner)
var deep
deep = Fn.new {|n| n == 0 ? 0 : 1 + deep.call(n - 1) }
System.print(deep.call(5000))
var many = Fn.new {|a, b, c, d, e, f, g, h| a + b + c + d + e + f + g + h }
var m = 0
for (i in 0...60) m = m + many.call(i, 1, 2, 3, 4, 5, 6, 7)
System.print(m)
var fiber = Fiber.new {
  for (i in 0...50) add.call(i, i < 45 ? 1 : "x")
}
System.print(fiber.try())
fiber = Fiber.new {
  for (i in 0...50) (i < 45 ? add : fns).call(1, 2)
}
System.print(fiber.try())
