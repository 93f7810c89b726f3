// By recursion over permutations, with a method that flips.
class Perms {
  construct new(n) {
    _n = n
    _most = 0
    _sum = 0
    _count = 0
    _p = (0...n).toList
    _q = List.filled(n, 0)
  }
  flips {
    for (i in 0..._n) _q[i] = _p[i]
    var count = 0
    while (_q[0] != 0) {
      var i = 0
      var j = _q[0]
      while (i < j) {
        _q.swap(i, j)
        i = i + 1
        j = j - 1
      }
      count = count + 1
    }
    return count
  }
  visit(k) {
    if (k == _n) {
      var f = flips
      if (f > _most) _most = f
      _sum = _count % 2 == 0 ? _sum + f : _sum - f
      _count = _count + 1
      return
    }
    for (i in k..._n) {
      _p.swap(k, i)
      visit(k + 1)
      _p.swap(k, i)
    }
  }
  toString { "%(_most) %(_sum) %(_count)" }
}
var perms = Perms.new(9)
perms.visit(0)
System.print(perms)
