// Loops in loops of many lengths, breaks, and ways that differ.
var total = 0
for (i in 0...40) {
  for (j in 0...i % 7) {
    for (k in 0..j) total = total + i * j - k
  }
}
System.print(total)
var n = 0
while (true) {
  n = n + 1
  var m = n
  while (m != 1) {
    if (m % 2 == 0) m = m / 2 else m = 3 * m + 1
    total = total + 1
    if (total % 1000 == 0) break
  }
  if (n > 200) break
}
System.print("%(n) %(total)")
var primes = 0
for (p in 2..600) {
  var isPrime = true
  var d = 2
  while (d * d <= p) {
    if (p % d == 0) {
      isPrime = false
      break
    }
    d = d + 1
  }
  if (isPrime) primes = primes + 1
}
System.print(primes)
for (i in 10..1) total = total + i
for (i in 1...1) total = total + 1000000
for (i in 5..5) total = total + i
for (i in 0.5...4) total = total + i
System.print(total)
var run = Fn.new {|f, n|
  var s = 0
  for (i in 0...n) s = f.call(s, i)
  return s
}
System.print(run.call(Fn.new {|s, i| s + i }, 200))
System.print(run.call(Fn.new {|s, i| "%(i)" }, 200))
System.print(run.call(Fn.new {|s, i| s == 0 ? i : null }, 201))
var state = 0
for (i in 0...500) {
  if (state == 0) {
    state = i % 3
  } else if (state == 1) {
    state = i % 5 == 0 ? 2 : 0
  } else {
    state = i % 2
  }
  total = total + state
}
System.print(total)
