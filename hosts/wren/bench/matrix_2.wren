// In a class, one list for all, with an operator.
class Matrix {
  construct new(n) {
    _n = n
    _cells = List.filled(n * n, 0)
  }
  n { _n }
  [i, j] { _cells[i * _n + j] }
  [i, j]=(value) { _cells[i * _n + j] = value }
  *(other) {
    var out = Matrix.new(_n)
    for (i in 0..._n) {
      for (j in 0..._n) {
        var s = 0
        for (k in 0..._n) s = s + this[i, k] * other[k, j]
        out[i, j] = s % 1000
      }
    }
    return out
  }
}
var m = Matrix.new(80)
for (i in 0...80) for (j in 0...80) m[i, j] = (i * 7 + j * 3) % 11
for (round in 0...10) m = m * m
System.print(m[3, 4] + m[70, 70])
