var total = 0
for (a in 1..10) for (b in 1..10) for (c in 1..10) for (d in 1..10) for (e in 1..10) for (f in 1..10) total = total + a * b - c * d + e * f
System.print(total)
