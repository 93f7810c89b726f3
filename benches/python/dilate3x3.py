"""dilate3x3(width, height, repeats): see dilate3x3.lua."""
import timer
from array2d import Array2D
from lehmer import Random


def dilate(a, kernel, b):
    for y in range(1, a.height - 1):
        for x in range(1, a.width - 1):
            b[x, y] = max(kernel[2, 2] * a[x - 1, y - 1], kernel[1, 2] * a[x, y - 1],
                          kernel[0, 2] * a[x + 1, y - 1], kernel[2, 1] * a[x - 1, y],
                          kernel[1, 1] * a[x, y], kernel[0, 1] * a[x + 1, y],
                          kernel[2, 0] * a[x - 1, y + 1], kernel[1, 0] * a[x, y + 1],
                          kernel[0, 0] * a[x + 1, y + 1])


def run(width, height, repeats):
    random = Random(70707)
    a, b, kernel = Array2D(width, height), Array2D(width, height), Array2D(3, 3)
    a.fill(random.real)
    kernel.fill(random.real)
    timer.start()
    for _ in range(repeats):
        dilate(a, kernel, b)
    timer.stop()
    return b.checksum()
