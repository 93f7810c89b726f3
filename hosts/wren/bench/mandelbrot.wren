var size = 400
var limit = 50
var inside = 0
for (y in 0...size) {
  var ci = 2 * y / size - 1
  for (x in 0...size) {
    var cr = 2 * x / size - 1.5
    var zr = 0
    var zi = 0
    var n = 0
    while (n < limit && zr * zr + zi * zi < 4) {
      var t = zr * zr - zi * zi + cr
      zi = 2 * zr * zi + ci
      zr = t
      n = n + 1
    }
    if (n == limit) inside = inside + 1
  }
}
System.print(inside)
