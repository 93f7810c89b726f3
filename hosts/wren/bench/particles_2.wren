// With functions on maps.
var make = Fn.new {|i| {"x": i, "y": 10, "u": 1, "v": i / 10} }
var step = Fn.new {|p, dt|
  p["x"] = p["x"] + p["u"] * dt
  p["y"] = p["y"] + p["v"] * dt
  if (p["y"] < 0) {
    p["y"] = -p["y"]
    p["v"] = p["v"] * -0.9
  }
  p["v"] = p["v"] - 9.81 * dt
}
var particles = (0...50).map(make).toList
for (i in 0...20000) particles.each {|p| step.call(p, 0.001) }
System.print(particles.reduce(0) {|sum, p| sum + p["x"] + p["y"] })
