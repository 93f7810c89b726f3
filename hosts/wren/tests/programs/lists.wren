// Items, negative indexes, growth, and iteration while the list changes.
var list = []
for (i in 0...200) list.add(i * i)
var sum = 0
for (round in 0...5) {
  for (i in 0...list.count) {
    list[i] = list[i] + 1
    sum = sum + list[i] + list[-1 - i]
  }
  for (item in list) sum = sum + item
}
System.print(sum)

var mixed = []
for (i in 0...100) {
  if (i % 3 == 0) mixed.add(i) else if (i % 3 == 1) mixed.add("s%(i)") else mixed.add(null)
}
var numbers = 0
var strings = ""
var nulls = 0
for (item in mixed) {
  if (item is Num) numbers = numbers + item
  if (item is String) strings = strings + item
  if (item == null) nulls = nulls + 1
}
System.print("%(numbers) %(strings) %(nulls)")

var queue = [1]
var steps = 0
while (queue.count > 0 && steps < 500) {
  var first = queue.removeAt(0)
  steps = steps + 1
  if (first < 300) {
    queue.add(first * 2)
    queue.insert(0, first + 7)
  }
}
System.print("%(steps) %(queue.count) %(queue)")
var grid = []
for (y in 0...20) {
  var row = []
  for (x in 0...20) row.add(x * y)
  grid.add(row)
}
var trace = 0
for (y in 0...20) for (x in 0...20) if (grid[y][x] % 2 == 1) trace = trace + grid[x][y]
System.print(trace)
var fiber = Fiber.new {
  for (i in 0...100) {
    if (i == 97) list[1000]
    list[i] = i
  }
}
System.print(fiber.try())
System.print(list[90..99])
fiber = Fiber.new {
  for (i in 0..20) list[i / 2] = i
}
System.print(fiber.try())
System.print(list.map {|x| x * 2 }.where {|x| x % 3 == 0 }.take(12).toList)
System.print(list.reduce {|a, b| a + b })
list.swap(0, 5)
System.print(list.indexOf(7))
var shuffled = [1, "two", null, 4, true, 6.5, list]
for (i in 0...200) shuffled.swap(i * 5 % 7, -1 - i % 7)
System.print(shuffled.map {|x| x is List ? "list" : x }.toList)
fiber = Fiber.new {
  for (i in 0...60) shuffled.swap(i % 7, i < 50 ? 0 : 7)
}
System.print(fiber.try())
