// With functions that are values, and while loops.
var a = Fn.new {|i, j| 1 / ((i + j) * (i + j + 1) / 2 + i + 1) }
var flip = Fn.new {|i, j| a.call(j, i) }
var times = Fn.new {|f, v, n|
  var out = []
  var i = 0
  while (i < n) {
    var s = 0
    var j = 0
    while (j < n) {
      s = s + f.call(i, j) * v[j]
      j = j + 1
    }
    out.add(s)
    i = i + 1
  }
  return out
}
var n = 260
var u = List.filled(n, 1)
var v = u
for (i in 0...10) {
  v = times.call(flip, times.call(a, u, n), n)
  u = times.call(flip, times.call(a, v, n), n)
}
var vBv = 0
var vv = 0
for (i in 0...n) {
  vBv = vBv + u[i] * v[i]
  vv = vv + v[i] * v[i]
}
System.print((vBv / vv).sqrt)
