"""SOR(n, sweeps): see sor.lua."""
from array import array

import timer
from lehmer import Random


def relax(grid, n, omega, sweeps):
    quarter, rest = omega * 0.25, 1.0 - omega
    for _ in range(sweeps):
        for i in range(1, n - 1):
            above, row, below = grid[i - 1], grid[i], grid[i + 1]
            for j in range(1, n - 1):
                row[j] = quarter * (above[j] + below[j] + row[j - 1] + row[j + 1]) + rest * row[j]


def run(n, sweeps):
    random = Random(30303)
    grid = [array("d", [random.real() for _ in range(n)]) for _ in range(n)]
    timer.start()
    relax(grid, n, 1.25, sweeps)
    timer.stop()
    total = 0.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            total = total + grid[i - 1][j - 1] * ((i + j) % 4 + 1)
    return total
