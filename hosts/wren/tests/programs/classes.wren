// Fields, methods, inheritance, statics, operators, and objects that escape or do not.
class Vec {
  construct new(x, y) {
    _x = x
    _y = y
  }
  x { _x }
  y { _y }
  x=(value) { _x = value }
  +(other) { Vec.new(_x + other.x, _y + other.y) }
  *(k) { Vec.new(_x * k, _y * k) }
  ==(other) { other is Vec && _x == other.x && _y == other.y }
  length { (_x * _x + _y * _y).sqrt }
  toString { "(%(_x), %(_y))" }
  static zero { Vec.new(0, 0) }
}
class Named is Vec {
  construct new(name, x) {
    super(x, x)
    _name = name
    __made = (__made || 0) + 1
  }
  length { super.length + _name.count }
  static made { __made }
}
var position = Vec.zero
var step = Vec.new(0.5, 0.25)
for (i in 0...300) position = position + step * 2
System.print(position)
var kept = []
var total = 0
for (i in 0...200) {
  var v = i % 5 == 0 ? Named.new("n%(i)", i) : Vec.new(i, -i)
  if (i % 50 == 0) kept.add(v)
  v.x = v.x + 1
  total = total + v.length
  if (v == Vec.new(8, -7)) System.print("found %(i)")
}
System.print(total)
System.print(kept)
System.print(Named.made)
class Shape {
  area { 0 }
  describe { "%(type.name) %(area)" }
}
class Square is Shape {
  construct new(s) { _s = s }
  area { _s * _s }
}
class Circle is Shape {
  construct new(r) { _r = r }
  area { 3 * _r * _r }
}
class Nothing is Shape {
  construct new() {}
}
var shapes = [Square.new(2), Circle.new(3), Nothing.new(), Square.new(4)]
var area = 0
for (i in 0...400) {
  var shape = shapes[i % 4]
  area = area + shape.area
  if (i > 396) System.print(shape.describe)
}
System.print(area)
// Fields change their types.
class Box {
  construct new(v) { _v = v }
  v { _v }
  v=(v) { _v = v }
}
var box = Box.new(1)
for (i in 0...100) {
  if (i == 50) box.v = "text"
  if (i == 60) box.v = null
  if (i == 70) box.v = 3
  if (box.v is Num) box.v = box.v + 1
}
System.print(box.v)
var chain = null
for (i in 0...50) {
  var cell = Box.new(chain)
  chain = cell
}
var depth = 0
while (chain) {
  depth = depth + 1
  chain = chain.v
}
System.print(depth)
