// Arithmetic, comparisons, bits, and what is not a number.
var sum = 0
var i = 0
while (i < 300) {
  sum = sum + i * 2 - i / 4 + i % 7
  if (i > 150) sum = sum - 1 else sum = sum + 0.5
  if (i == 200) sum = -sum
  if (i != 100 && i >= 3 || i <= 1) sum = sum + (i & 12) + (i | 3) + (i ^ 5) + (i << 3) + (i >> 1) + (~i)
  i = i + 1
}
System.print(sum)

var nan = 0 / 0
var seen = []
for (n in -40..40) {
  var x = n / 4
  seen.add([x.floor, x.ceil, x.abs, x.truncate, x.min(2), x.max(-2), x.isInteger, -x, x.round].toString)
  if (x < nan || x > nan || x == nan) System.print("never")
  if (x != nan) sum = sum + 1
}
System.print(seen.join("\n"))
System.print(sum)

// Zero of both signs, infinities, and large numbers as bits.
var big = 1
for (n in 1..1100) {
  big = big * 2
  if (n % 100 == 0) System.print("%(big) %(1 / -big) %((-0) / big) %(big % 3) %(big.sqrt.isInteger)")
}
var bits = 0
for (n in 0...80) {
  bits = bits + ((n * 123456789) & 65535)
  if (n < 32) bits = bits ^ (1 << n)
}
System.print(bits)
var functions = 0
for (n in 1..60) {
  functions = functions + n.sin + n.cos + n.log + n.exp.sqrt.sqrt + n.pow(0.3) + n.atan(2) + (n / 100).asin
}
System.print(functions)
for (n in 1..50) {
  var kinds = [n, "text", null, true, false, 1..2, Num]
  var text = ""
  for (kind in kinds) {
    if (kind == n) text = text + "n"
    if (kind == null) text = text + "0"
    if (kind != true) text = text + "t"
    if (!kind) text = text + "f"
    if (kind is Num) text = text + "N"
    if (kind is Sequence) text = text + "S"
    text = text + (kind && "y" || "z") + kind.type.name
  }
  if (n > 48) System.print(text)
}
