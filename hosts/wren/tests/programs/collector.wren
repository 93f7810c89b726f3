// Garbage in loops of all kinds: what lives is there afterwards.
class Node {
  construct new(left, right) {
    _left = left
    _right = right
  }
  check { _left == null ? 1 : 1 + _left.check + _right.check }
  static tree(depth) { depth == 0 ? Node.new(null, null) : Node.new(tree(depth - 1), tree(depth - 1)) }
}
var long = Node.tree(10)
var checks = 0
for (i in 0...60) checks = checks + Node.tree(8).check
System.print("%(checks) %(long.check)")
var ring = []
for (i in 0...64) ring.add(null)
for (i in 0...40000) ring[i % 64] = [i, "item %(i)", {i: i}]
var last = 0
for (item in ring) last = last + item[0] + item[2][item[0]]
System.print("%(last) %(ring[5][1])")
var head = null
for (i in 0...30000) {
  head = Node.new(head, null)
  if (i % 100 == 0) head = null
}
System.gc()
var text = ""
for (i in 0...3000) text = "%(i)" + (text.isEmpty ? "" : text[0..3 % text.count])
System.print(text)
var fns = []
for (i in 0...5000) {
  fns.add(Fn.new {|x| x + 1 })
  if (fns.count > 10) fns.removeAt(0)
}
System.print(fns[3].call(1))
