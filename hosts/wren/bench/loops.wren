var total = 0
for (a in 1..13) for (b in 1..13) for (c in 1..13) for (d in 1..13) for (e in 1..13) for (f in 1..13) total = total + a * b - c * d + e * f
System.print(total)
