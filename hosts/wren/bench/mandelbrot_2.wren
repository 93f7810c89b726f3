// With complex numbers as objects.
class Complex {
  construct new(re, im) {
    _re = re
    _im = im
  }
  re { _re }
  im { _im }
  norm { _re * _re + _im * _im }
  +(other) { Complex.new(_re + other.re, _im + other.im) }
  square { Complex.new(_re * _re - _im * _im, 2 * _re * _im) }
}
class Mandelbrot {
  static steps(c, limit) {
    var z = Complex.new(0, 0)
    for (n in 0...limit) {
      if (z.norm >= 4) return n
      z = z.square + c
    }
    return limit
  }
  static inside(size, limit) {
    var count = 0
    for (y in 0...size) {
      for (x in 0...size) {
        if (steps(Complex.new(2 * x / size - 1.5, 2 * y / size - 1), limit) == limit) count = count + 1
      }
    }
    return count
  }
}
System.print(Mandelbrot.inside(200, 50))
