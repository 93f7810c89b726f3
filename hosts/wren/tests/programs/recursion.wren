// Deep recursion, with errors at depth.
class D {
  static down(n) { n == 0 ? 0 : 1 + down(n - 1) }
  static list(n) {
    if (n == 0) return []
    var l = list(n - 1)
    l.add(n)
    return l
  }
}
System.print(D.down(60000))
System.print(D.list(30000).count)
System.print(D.down(60000))
var f = Fiber.new { D.down("x") }
System.print(f.try())
var g
g = Fn.new {|n|
  if (n == 30) return [].nothing
  return g.call(n + 1) + 1
}
for (i in 0...200) {
  f = Fiber.new { g.call(0) }
  if (f.try() != "List does not implement 'nothing'.") System.print("wrong")
}
