"""sobel(width, height, repeats): see sobel.lua."""
import math

import timer
from array2d import Array2D
from lehmer import Random


def magnitude(a):
    b = Array2D(a.width, a.height)
    for y in range(1, a.height - 1):
        for x in range(1, a.width - 1):
            dx = (a[x + 1, y - 1] - a[x - 1, y - 1]
                  + 2.0 * (a[x + 1, y] - a[x - 1, y])
                  + a[x + 1, y + 1] - a[x - 1, y + 1])
            dy = (a[x - 1, y + 1] - a[x - 1, y - 1]
                  + 2.0 * (a[x, y + 1] - a[x, y - 1])
                  + a[x + 1, y + 1] - a[x + 1, y - 1])
            b[x, y] = min(int(math.sqrt(dx * dx + dy * dy) / 4.0), 255)
    return b


def run(width, height, repeats):
    random = Random(80808)
    a, b = Array2D(width, height), None
    a.fill(lambda: float(math.floor(random.real() * 256.0)))
    timer.start()
    for _ in range(repeats):
        b = magnitude(a)
    timer.stop()
    return b.checksum()
