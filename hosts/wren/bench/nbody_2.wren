// The same without objects: a list for each coordinate.
var pi = 3.141592653589793
var solar = 4 * pi * pi
var days = 365.24
var xs = [0, 4.84143144246472090, 8.34336671824457987, 12.8943695621391310, 15.3796971148509165]
var ys = [0, -1.16032004402742839, 4.12479856412430479, -15.1111514016986312, -25.9193146099879641]
var zs = [0, -0.103622044471123109, -0.403523417114321381, -0.223307578892655734, 0.179258772950371181]
var us = [0, 0.00166007664274403694 * days, -0.00276742510726411160 * days, 0.00296460137564761618 * days, 0.00268067772490389322 * days]
var vs = [0, 0.00769901118419740425 * days, 0.00499852801234917238 * days, 0.00237847173959480950 * days, 0.00162824170038242295 * days]
var ws = [0, -0.0000690460016972063023 * days, 0.0000230417297573763929 * days, -0.0000296589568540237556 * days, -0.0000951592254519715870 * days]
var ms = [solar, 0.000954791938424326609 * solar, 0.000285885980666130812 * solar, 0.0000436624404335156298 * solar, 0.0000515138902046611451 * solar]
var step = Fn.new {|dt, n|
  for (i in 0...n) {
    var x = xs[i]
    var y = ys[i]
    var z = zs[i]
    for (j in 0...i) {
      var dx = x - xs[j]
      var dy = y - ys[j]
      var dz = z - zs[j]
      var d2 = dx * dx + dy * dy + dz * dz
      var mag = dt / (d2 * d2.sqrt)
      us[i] = us[i] - dx * ms[j] * mag
      vs[i] = vs[i] - dy * ms[j] * mag
      ws[i] = ws[i] - dz * ms[j] * mag
      us[j] = us[j] + dx * ms[i] * mag
      vs[j] = vs[j] + dy * ms[i] * mag
      ws[j] = ws[j] + dz * ms[i] * mag
    }
  }
  for (i in 0...n) {
    xs[i] = xs[i] + dt * us[i]
    ys[i] = ys[i] + dt * vs[i]
    zs[i] = zs[i] + dt * ws[i]
  }
}
for (i in 0...50000) step.call(0.01, 5)
System.print([xs, us].toString)
