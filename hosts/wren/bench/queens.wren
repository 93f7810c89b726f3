class Queens {
  construct new(n) {
    _n = n
    _rows = List.filled(n, false)
    _up = List.filled(2 * n, false)
    _down = List.filled(2 * n, false)
    _found = 0
  }
  found { _found }
  place(c) {
    if (c == _n) {
      _found = _found + 1
      return
    }
    for (r in 0..._n) {
      if (!_rows[r] && !_up[r + c] && !_down[r - c + _n]) {
        _rows[r] = true
        _up[r + c] = true
        _down[r - c + _n] = true
        place(c + 1)
        _rows[r] = false
        _up[r + c] = false
        _down[r - c + _n] = false
      }
    }
  }
}
var queens = Queens.new(8)
for (i in 0...300) queens.place(0)
System.print(queens.found)
