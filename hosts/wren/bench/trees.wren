class Tree {
  construct new(left, right) {
    _left = left
    _right = right
  }
  static make(depth) { depth == 0 ? Tree.new(null, null) : Tree.new(make(depth - 1), make(depth - 1)) }
  check {
    if (_left == null) return 1
    return 1 + _left.check + _right.check
  }
}
var total = 0
for (depth in [4, 6, 8, 10, 12]) {
  for (i in 0...(1 << (19 - depth))) total = total + Tree.make(depth).check
}
System.print(total)
