// By going back, without recursion.
var solve = Fn.new {|n|
  var at = List.filled(n + 1, -1)
  var found = 0
  var c = 0
  while (c >= 0) {
    at[c] = at[c] + 1
    var isFree = false
    while (at[c] < n && !isFree) {
      isFree = true
      var k = 0
      while (k < c && isFree) {
        var d = at[k] - at[c]
        if (d == 0 || d == c - k || d == k - c) isFree = false
        k = k + 1
      }
      if (!isFree) at[c] = at[c] + 1
    }
    if (at[c] >= n) {
      c = c - 1
    } else if (c == n - 1) {
      found = found + 1
    } else {
      c = c + 1
      at[c] = -1
    }
  }
  return found
}
System.print(solve.call(9) + solve.call(10))
