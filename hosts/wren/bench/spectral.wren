class Spectral {
  static a(i, j) { 1 / ((i + j) * (i + j + 1) / 2 + i + 1) }
  static times(v, out, n) {
    for (i in 0...n) {
      var s = 0
      for (j in 0...n) s = s + a(i, j) * v[j]
      out[i] = s
    }
  }
  static timesTransposed(v, out, n) {
    for (i in 0...n) {
      var s = 0
      for (j in 0...n) s = s + a(j, i) * v[j]
      out[i] = s
    }
  }
}
var n = 300
var u = List.filled(n, 1)
var v = List.filled(n, 0)
var w = List.filled(n, 0)
for (i in 0...10) {
  Spectral.times(u, w, n)
  Spectral.timesTransposed(w, v, n)
  Spectral.times(v, w, n)
  Spectral.timesTransposed(w, u, n)
}
var vBv = 0
var vv = 0
for (i in 0...n) {
  vBv = vBv + u[i] * v[i]
  vv = vv + v[i] * v[i]
}
System.print((vBv / vv).sqrt)
