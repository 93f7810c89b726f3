"""conv3(n, repeats): see conv3.lua."""
from array import array

import timer
from lehmer import Random


def convolve(a, kernel, b, n):
    for i in range(n - 2):
        b[i] = kernel[2] * a[i] + kernel[1] * a[i + 1] + kernel[0] * a[i + 2]


def run(n, repeats):
    random = Random(50505)
    a = array("d", [random.real() for _ in range(n)])
    b = array("d", [0.0]) * n
    kernel = array("d", [-1.0, 0.25, 1.0])
    timer.start()
    for _ in range(repeats):
        convolve(a, kernel, b, n)
    timer.stop()
    total = 0.0
    for i in range(1, n + 1):
        total = total + b[i - 1] * (i % 3 + 1)
    return total
