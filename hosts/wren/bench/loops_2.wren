// The same with while loops in a function.
var run = Fn.new {|n|
  var total = 0
  var a = 0
  while ((a = a + 1) <= n) {
    var b = 0
    while ((b = b + 1) <= n) {
      var c = 0
      while ((c = c + 1) <= n) {
        var d = 0
        while ((d = d + 1) <= n) total = total + a * b - c * d
      }
    }
  }
  return total
}
System.print(run.call(50))
