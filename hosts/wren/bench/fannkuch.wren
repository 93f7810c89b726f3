class Fannkuch {
  static run(n) {
    var p = []
    var q = List.filled(n, 0)
    var s = []
    var sign = 1
    var maxFlips = 0
    var sum = 0
    for (i in 0...n) {
      p.add(i)
      s.add(i)
    }
    while (true) {
      var q0 = p[0]
      if (q0 != 0) {
        for (i in 1...n) q[i] = p[i]
        var flips = 1
        while (true) {
          var qq = q[q0]
          if (qq == 0) {
            sum = sum + sign * flips
            if (flips > maxFlips) maxFlips = flips
            break
          }
          q[q0] = q0
          if (q0 >= 3) {
            var i = 1
            var j = q0 - 1
            while (i < j) {
              var t = q[i]
              q[i] = q[j]
              q[j] = t
              i = i + 1
              j = j - 1
            }
          }
          q0 = qq
          flips = flips + 1
        }
      }
      if (sign == 1) {
        var t = p[0]
        p[0] = p[1]
        p[1] = t
        sign = -1
      } else {
        var t = p[1]
        p[1] = p[2]
        p[2] = t
        sign = 1
        for (i in 2...n) {
          var sx = s[i]
          if (sx != 0) {
            s[i] = sx - 1
            break
          }
          if (i == n - 1) return [sum, maxFlips]
          s[i] = i
          var t = p[0]
          for (j in 0..i) p[j] = p[j + 1]
          p[i + 1] = t
        }
      }
    }
  }
}
System.print(Fannkuch.run(9))
