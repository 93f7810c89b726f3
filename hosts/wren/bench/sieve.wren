var count = 0
for (round in 0...25) {
  var n = 100000
  var isPrime = List.filled(n + 1, true)
  count = 0
  for (i in 2..n) {
    if (isPrime[i]) {
      count = count + 1
      var k = i + i
      while (k <= n) {
        isPrime[k] = false
        k = k + i
      }
    }
  }
}
System.print(count)
