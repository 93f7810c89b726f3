// In a class, with one flag for each odd number.
class Sieve {
  construct new(limit) {
    _limit = limit
    _flags = []
    for (i in 0..limit / 2) _flags.add(1)
  }
  count() {
    var total = 1
    var i = 3
    while (i <= _limit) {
      if (_flags[(i / 2).floor] == 1) {
        total = total + 1
        strike(i * i, 2 * i)
      }
      i = i + 2
    }
    return total
  }
  strike(from, step) {
    while (from <= _limit) {
      _flags[(from / 2).floor] = 0
      from = from + step
    }
  }
}
var total = 0
for (round in 1..25) total = total + Sieve.new(150000).count()
System.print(total)
