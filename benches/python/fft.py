"""FFT(n, repeats): see fft.lua."""
import math
from array import array

import timer
from lehmer import Random


def reverse_bits(data, n):
    j = 0
    for i in range(n - 1):
        if i < j:
            a, b = 2 * i, 2 * j
            data[a], data[b] = data[b], data[a]
            data[a + 1], data[b + 1] = data[b + 1], data[a + 1]
        bit = n // 2
        while bit <= j:
            j -= bit
            bit //= 2
        j += bit


def transform(data, n, direction):
    reverse_bits(data, n)
    span = 1
    while span < n:
        angle = direction * math.pi / span
        half = math.sin(0.5 * angle)
        turn_re, turn_im = -2.0 * half * half, math.sin(angle)
        w_re, w_im = 1.0, 0.0
        for k in range(span):
            for i in range(k, n, 2 * span):
                a = 2 * i
                b = a + 2 * span
                re = w_re * data[b] - w_im * data[b + 1]
                im = w_re * data[b + 1] + w_im * data[b]
                data[b] = data[a] - re
                data[b + 1] = data[a + 1] - im
                data[a] = data[a] + re
                data[a + 1] = data[a + 1] + im
            re = w_re + (w_re * turn_re - w_im * turn_im)
            w_im = w_im + (w_im * turn_re + w_re * turn_im)
            w_re = re
        span = 2 * span


def scale(data, factor):
    for i in range(len(data)):
        data[i] = data[i] * factor


def run(n, repeats):
    random = Random(101010)
    data = array("d", [random.real() for _ in range(2 * n)])
    spectrum = 0.0
    timer.start()
    for _ in range(repeats):
        transform(data, n, -1.0)
        spectrum = spectrum + data[2] - data[2 * n - 1]
        transform(data, n, 1.0)
        scale(data, 1.0 / n)
    timer.stop()
    total = spectrum
    for i in range(1, 2 * n + 1):
        total = total + data[i - 1] * (i % 5)
    return total
