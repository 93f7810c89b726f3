class Body {
  construct new(x, y, z, vx, vy, vz, mass) {
    _x = x
    _y = y
    _z = z
    _vx = vx
    _vy = vy
    _vz = vz
    _mass = mass
  }
  x { _x }
  y { _y }
  z { _z }
  vx { _vx }
  vy { _vy }
  vz { _vz }
  mass { _mass }
  push(dx, dy, dz, by) {
    _vx = _vx - dx * by
    _vy = _vy - dy * by
    _vz = _vz - dz * by
  }
  move(dt) {
    _x = _x + dt * _vx
    _y = _y + dt * _vy
    _z = _z + dt * _vz
  }
  energy { 0.5 * _mass * (_vx * _vx + _vy * _vy + _vz * _vz) }
}
var pi = 3.141592653589793
var solar = 4 * pi * pi
var days = 365.24
var bodies = [
  Body.new(0, 0, 0, 0, 0, 0, solar),
  Body.new(4.84143144246472090, -1.16032004402742839, -0.103622044471123109,
    0.00166007664274403694 * days, 0.00769901118419740425 * days, -0.0000690460016972063023 * days, 0.000954791938424326609 * solar),
  Body.new(8.34336671824457987, 4.12479856412430479, -0.403523417114321381,
    -0.00276742510726411160 * days, 0.00499852801234917238 * days, 0.0000230417297573763929 * days, 0.000285885980666130812 * solar),
  Body.new(12.8943695621391310, -15.1111514016986312, -0.223307578892655734,
    0.00296460137564761618 * days, 0.00237847173959480950 * days, -0.0000296589568540237556 * days, 0.0000436624404335156298 * solar),
  Body.new(15.3796971148509165, -25.9193146099879641, 0.179258772950371181,
    0.00268067772490389322 * days, 0.00162824170038242295 * days, -0.0000951592254519715870 * days, 0.0000515138902046611451 * solar)
]
var advance = Fn.new {|dt|
  for (i in 0...5) {
    var a = bodies[i]
    var j = i + 1
    while (j < 5) {
      var b = bodies[j]
      var dx = a.x - b.x
      var dy = a.y - b.y
      var dz = a.z - b.z
      var d2 = dx * dx + dy * dy + dz * dz
      var mag = dt / (d2 * d2.sqrt)
      a.push(dx, dy, dz, b.mass * mag)
      b.push(dx, dy, dz, -a.mass * mag)
      j = j + 1
    }
  }
  for (body in bodies) body.move(dt)
}
for (i in 0...50000) advance.call(0.01)
var energy = 0
for (i in 0...5) {
  var a = bodies[i]
  energy = energy + a.energy
  for (j in 0...5) {
    if (j > i) {
      var b = bodies[j]
      var dx = a.x - b.x
      var dy = a.y - b.y
      var dz = a.z - b.z
      energy = energy - a.mass * b.mass / (dx * dx + dy * dy + dz * dz).sqrt
    }
  }
}
System.print(energy)
