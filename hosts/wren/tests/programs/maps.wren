// Maps by keys of all kinds, and strings.
var map = {}
for (i in 0...200) map[i] = i * 2
var sum = 0
for (i in 0...300) {
  if (map.containsKey(i)) sum = sum + map[i] else sum = sum - 1
  var found = map[i]
  if (found == null) sum = sum + 0.5
}
System.print("%(sum) %(map.count)")
var words = ["one", "two", "three", "four", "two", "one", "two"]
var counts = {}
for (round in 0...40) {
  for (word in words) counts[word] = (counts[word] || 0) + 1
}
System.print("%(counts["one"]) %(counts["two"]) %(counts["three"]) %(counts["none"])")
for (i in 0...200) if (i % 3 == 0) map.remove(i)
System.print(map.count)
var keys = 0
for (key in map.keys) keys = keys + key
for (value in map.values) keys = keys + value
for (entry in map) keys = keys + entry.key - entry.value
System.print(keys)
var kinds = {null: 1, true: 2, false: 3, 1.5: 4, "s": 5, Num: 6, (1..2): 7}
var hits = 0
for (i in 0...50) {
  for (key in [null, true, false, 1.5, "s", Num, 1..2, 1...2, 7]) {
    if (kinds.containsKey(key)) hits = hits + kinds[key]
  }
}
System.print(hits)
var text = ""
for (i in 0...120) text = text + (i % 10).toString
System.print(text)
var bytes = 0
for (byte in text.bytes) bytes = bytes + byte
for (point in "aé中".codePoints) bytes = bytes + point
for (char in text) if (char == "7") bytes = bytes + 1
System.print(bytes)
var same = 0
for (i in 0...100) {
  if ("a%(i % 3)" == "a1") same = same + 1
  if (text[i % 100] != "5") same = same + 10
}
System.print(same)
var fiber = Fiber.new {
  for (i in 0...60) map[i < 50 ? i : [i]] = 1
}
System.print(fiber.try())
fiber = Fiber.new {
  for (i in 0...60) text + (i < 50 ? "x" : i)
}
System.print(fiber.try())
