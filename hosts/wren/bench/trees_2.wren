// As lists, from the bottom up, and summed with a stack of its own.
var make = Fn.new {|depth|
  var level = []
  for (i in 0...(1 << depth)) level.add([])
  while (level.count > 1) {
    var above = []
    var i = 0
    while (i < level.count) {
      above.add([level[i], level[i + 1]])
      i = i + 2
    }
    level = above
  }
  return level[0]
}
var check = Fn.new {|tree|
  var todo = [tree]
  var at = 1
  var total = 0
  while (at > 0) {
    at = at - 1
    var node = todo[at]
    total = total + 1
    for (child in node) {
      if (at < todo.count) todo[at] = child else todo.add(child)
      at = at + 1
    }
  }
  return total
}
var total = 0
for (i in 0...400) total = total + check.call(make.call(10))
System.print(total)
