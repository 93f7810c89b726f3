class Vec {
  construct new(x, y) {
    _x = x
    _y = y
  }
  x { _x }
  y { _y }
  +(other) { Vec.new(_x + other.x, _y + other.y) }
  *(k) { Vec.new(_x * k, _y * k) }
}
class Particle {
  construct new(at, speed) {
    _at = at
    _speed = speed
  }
  at { _at }
  step(dt) {
    _at = _at + _speed * dt
    if (_at.y < 0) {
      _at = Vec.new(_at.x, -_at.y)
      _speed = Vec.new(_speed.x, -_speed.y) * 0.9
    }
    _speed = _speed + Vec.new(0, -9.81) * dt
  }
}
var particles = []
for (i in 0...50) particles.add(Particle.new(Vec.new(i, 10), Vec.new(1, i / 10)))
for (i in 0...15000) for (p in particles) p.step(0.001)
var sum = Vec.new(0, 0)
for (p in particles) sum = sum + p.at
System.print("%(sum.x) %(sum.y)")
