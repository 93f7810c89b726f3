var n = 90
var make = Fn.new {|seed|
  var rows = []
  for (i in 0...n) {
    var row = []
    for (j in 0...n) row.add((i * seed + j) % 10)
    rows.add(row)
  }
  return rows
}
var multiply = Fn.new {|a, b|
  var out = []
  for (i in 0...n) {
    var row = []
    for (j in 0...n) {
      var s = 0
      for (k in 0...n) s = s + a[i][k] * b[k][j]
      row.add(s)
    }
    out.add(row)
  }
  return out
}
var a = make.call(3)
var b = make.call(7)
for (round in 0...9) a = multiply.call(a, b).map {|row| row.map {|x| x % 100 }.toList }.toList
System.print(a[10])
